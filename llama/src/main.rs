//! The worker program; the only code that links llama.cpp.
fn main() {}
