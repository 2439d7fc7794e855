//! ChatML, written piece by piece: only this file puts special tokens into a prompt. Whatever a
//! piece says, it stays between its own message's tokens.

use crate::gguf::Header;
use crate::protocol::{Message, Piece, Role, Trust};
use crate::vocabulary::{TokeniseError, Vocabulary};

/// The version of this rendering. Part of every key.
pub const RENDERING: &str = "chatml/1";

const START: &str = "<|im_start|>";
const END: &str = "<|im_end|>";

/// A chat that cannot be written for this model.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The file carries no template, so nobody knows how its model was taught to chat.
    #[error("the model file carries no chat template; use one of an instruct model")]
    NoTemplate,
    /// The template is of another family.
    #[error("the model's chat template is not ChatML, the only one that is written here")]
    OtherTemplate,
    /// A piece cannot become tokens.
    #[error(transparent)]
    Tokenise(#[from] TokeniseError),
}

/// How chats are written for one model.
#[derive(Clone, Copy, Debug)]
pub struct Chat {
    start: u32,
    end: u32,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// As text, special tokens written out.
    pub text: String,
    /// As tokens.
    pub tokens: Vec<u32>,
}

impl Chat {
    /// Checks that the model was taught ChatML and knows its tokens.
    pub fn new(header: &Header, vocabulary: &Vocabulary) -> Result<Self, ChatError> {
        let template = header.chat_template.as_deref().ok_or(ChatError::NoTemplate)?;
        let tokens = (vocabulary.special(START), vocabulary.special(END));
        match tokens {
            (Some(start), Some(end)) if template.contains(START) && vocabulary.is_end(end) => {
                Ok(Self { start, end })
            }
            _ => Err(ChatError::OtherTemplate),
        }
    }

    /// Writes a chat up to where the model's answer begins.
    pub fn render(
        &self,
        messages: &[Message],
        vocabulary: &Vocabulary,
    ) -> Result<Prompt, ChatError> {
        let mut prompt = Prompt { text: String::new(), tokens: Vec::new() };
        prompt.tokens.extend(vocabulary.beginning());
        for message in messages {
            self.open(message.role, &mut prompt, vocabulary)?;
            for (text, trust) in joined(&message.pieces) {
                prompt.push(&text, trust, vocabulary)?;
            }
            prompt.tokens.push(self.end);
            prompt.text.push_str(END);
            prompt.push("\n", Trust::Template, vocabulary)?;
        }
        self.open(Role::Assistant, &mut prompt, vocabulary)?;
        Ok(prompt)
    }

    fn open(
        &self,
        role: Role,
        prompt: &mut Prompt,
        vocabulary: &Vocabulary,
    ) -> Result<(), TokeniseError> {
        prompt.tokens.push(self.start);
        prompt.text.push_str(START);
        let name = match role {
            Role::System => "system\n",
            Role::User => "user\n",
            Role::Assistant => "assistant\n",
        };
        prompt.push(name, Trust::Template, vocabulary)
    }
}

impl Prompt {
    fn push(
        &mut self,
        text: &str,
        trust: Trust,
        vocabulary: &Vocabulary,
    ) -> Result<(), TokeniseError> {
        self.tokens.extend(vocabulary.tokenise(text, trust)?);
        self.text.push_str(text);
        Ok(())
    }
}

/// Neighbouring pieces of equal trust as one, so that words are not torn where pieces meet.
fn joined(pieces: &[Piece]) -> Vec<(String, Trust)> {
    let mut joined: Vec<(String, Trust)> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some((text, trust)) if *trust == piece.trust => text.push_str(&piece.text),
            _ => joined.push((piece.text.clone(), piece.trust)),
        }
    }
    joined
}
