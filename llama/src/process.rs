//! The process and its parent: the worker never outlives who started it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Set once standard input has ended; generation looks at it between decode calls.
static INPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// How long a decode call may go on after standard input has ended.
const GRACE: Duration = Duration::from_secs(1);

/// Called first, while there is one thread: dies with the parent, and prints no traces.
pub fn prepare() {
    die_with_parent();
    quiet_traces();
}

/// Linux ends the process with its parent, even one that was killed. Elsewhere the end of standard
/// input does.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Where the kernel refuses, the end of standard input still ends the worker.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
}

/// A crash inside llama.cpp would otherwise start a debugger to print a trace.
#[allow(unsafe_code)]
fn quiet_traces() {
    // SAFETY: called before any other thread exists.
    unsafe { std::env::set_var("GGML_NO_BACKTRACE", "1") };
}

/// Says that standard input has ended. A decode call that does not return in time is cut short
/// together with the process.
pub fn input_closed() -> ! {
    INPUT_CLOSED.store(true, Ordering::Relaxed);
    std::thread::sleep(GRACE);
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

/// Whether standard input has ended.
pub fn is_input_closed() -> bool {
    INPUT_CLOSED.load(Ordering::Relaxed)
}
