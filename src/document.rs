//! Documents: their ids, the texts of their versions, and the pieces of a text that can be cited.
//! Offsets are Unicode code points, half-open; nothing is ever normalised.

mod id;
mod pieces;
mod text;

pub use id::{CharsetFault, DocumentId};
pub use pieces::{Piece, Unit, pieces};
pub use text::{Span, TextFlags, Unreadable, decode, flags};
