//! One model in memory and one sequence of tokens in its cache. Batches have a fixed size and
//! begin at the first token that is not cached.

use std::num::NonZeroU32;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::{KvCacheType, LlamaContextParams};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_sys_2::{LLAMA_FLASH_ATTN_TYPE_DISABLED, LLAMA_FLASH_ATTN_TYPE_ENABLED};

use crate::chat::{Chat, ChatError};
use crate::gguf::Header;
use crate::grammar::{LarkError, Larks, Pieces};
use crate::model_file::{ModelFile, ModelFileError};
use crate::process;
use crate::protocol::{Attention, Load, Loaded, Part};
use crate::vocabulary::{Vocabulary, llama_token};

/// The largest context that is taken.
const MAX_CONTEXT: u32 = 1 << 18;
/// The most threads that are taken.
const MAX_THREADS: u16 = 512;

/// A model that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is not usable, or not the one expected.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// Its chats cannot be written.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// A process holds one whole model.
    #[error("a model is loaded already; a process holds one")]
    AlreadyLoaded,
    /// Threads, context or batch out of range.
    #[error("{what} {value} is out of range; 1 to {limit} are taken")]
    Range {
        /// Which setting.
        what: &'static str,
        /// What was asked for.
        value: u32,
        /// The most.
        limit: u32,
    },
    /// llama.cpp cannot load the file.
    #[error("llama.cpp cannot load the model: {0}")]
    Model(String),
    /// There is not enough memory for the context, or the like.
    #[error("llama.cpp cannot make a context: {0}")]
    Context(String),
    /// llama.cpp cannot be started.
    #[error("llama.cpp cannot be started: {0}")]
    Backend(String),
}

/// A decode call that failed.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// llama.cpp says so.
    #[error("llama.cpp could not evaluate: {0}")]
    Decode(String),
    /// Standard input has ended, so nobody waits for the answer.
    #[error("standard input has ended")]
    Interrupted,
}

/// A loaded model, or its tokenizer.
pub struct Model {
    /// Its vocabulary.
    pub vocabulary: Vocabulary,
    /// How its chats are written.
    pub chat: Chat,
    /// Its sequence; none where only the tokenizer is loaded.
    pub sequence: Option<Sequence>,
    pieces: Option<Rc<Pieces>>,
    larks: Option<Larks>,
}

/// The one sequence of a model.
pub struct Sequence {
    context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    batch_size: usize,
    capacity: usize,
    /// The tokens whose state is cached.
    cached: Vec<u32>,
}

impl Model {
    /// Loads a model from the descriptor through which it was hashed.
    pub fn load(
        backend: &LlamaBackend,
        request: &Load,
        mut progress: impl FnMut(u64),
    ) -> Result<(Self, Loaded), LoadError> {
        check_ranges(request)?;
        let file = ModelFile::open(Path::new(&request.model_path))?;
        let started = Instant::now();
        let sha256 = file.verify(&request.expected_sha256, &mut progress)?;
        let seconds_hash = started.elapsed().as_secs_f64();
        let header = file.header()?;
        let started = Instant::now();
        let model = Self::load_verified(backend, request, &file, &header)?;
        let context = model.sequence.as_ref().map_or(0, |sequence| sequence.capacity as u32);
        let seconds_load = started.elapsed().as_secs_f64();
        let part = request.part;
        Ok((model, Loaded { sha256, part, context, seconds_hash, seconds_load }))
    }

    fn load_verified(
        backend: &LlamaBackend,
        request: &Load,
        file: &ModelFile,
        header: &Header,
    ) -> Result<Self, LoadError> {
        let params = LlamaModelParams::default()
            .with_n_gpu_layers(0)
            .with_vocab_only(request.part == Part::Tokenizer);
        let loaded = LlamaModel::load_from_file(backend, file.descriptor_path(), &params)
            .map_err(|error| LoadError::Model(error.to_string()))?;
        // A process loads a tokenizer and one model at most, and keeps them to its end.
        let model: &'static LlamaModel = Box::leak(Box::new(loaded));
        let vocabulary = Vocabulary::new(model);
        let chat = Chat::new(header, &vocabulary)?;
        let sequence = match request.part {
            Part::Tokenizer => None,
            Part::Whole => {
                let trained = u32::try_from(header.context_length.unwrap_or(u64::MAX));
                range("context", request.context, trained.unwrap_or(MAX_CONTEXT))?;
                Some(Sequence::new(backend, model, request)?)
            }
        };
        Ok(Self { vocabulary, chat, sequence, pieces: None, larks: None })
    }

    /// The vocabulary as grammars need it, made once.
    pub fn pieces(&mut self) -> Rc<Pieces> {
        let vocabulary = &self.vocabulary;
        self.pieces.get_or_insert_with(|| Rc::new(vocabulary.pieces())).clone()
    }

    /// The environment of llguidance's grammars, made once.
    pub fn larks(&mut self) -> Result<&Larks, LarkError> {
        let larks = match self.larks.take() {
            Some(larks) => larks,
            None => self.vocabulary.larks()?,
        };
        Ok(self.larks.insert(larks))
    }
}

fn check_ranges(request: &Load) -> Result<(), LoadError> {
    range("threads", request.threads.into(), MAX_THREADS.into())?;
    range("ubatch", request.ubatch, 4096)?;
    range("context", request.context, MAX_CONTEXT)
}

fn range(what: &'static str, value: u32, limit: u32) -> Result<(), LoadError> {
    match (1..=limit).contains(&value) {
        true => Ok(()),
        false => Err(LoadError::Range { what, value, limit }),
    }
}

impl Sequence {
    fn new(
        backend: &LlamaBackend,
        model: &'static LlamaModel,
        request: &Load,
    ) -> Result<Self, LoadError> {
        let flash = match request.attention {
            Attention::Eager => LLAMA_FLASH_ATTN_TYPE_DISABLED,
            Attention::Flash => LLAMA_FLASH_ATTN_TYPE_ENABLED,
        };
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(request.context))
            .with_n_batch(request.ubatch)
            .with_n_ubatch(request.ubatch)
            .with_n_seq_max(1)
            .with_n_threads(request.threads.into())
            .with_n_threads_batch(request.threads.into())
            .with_flash_attention_policy(flash)
            .with_type_k(KvCacheType::F16)
            .with_type_v(KvCacheType::F16);
        let context = model
            .new_context(backend, params)
            .map_err(|error| LoadError::Context(error.to_string()))?;
        // llama.cpp may round either of them; a batch beyond its own would abort the process.
        let batch_size = context.n_batch().min(context.n_ubatch()).min(request.ubatch) as usize;
        Ok(Self {
            batch: LlamaBatch::new(batch_size, 1),
            batch_size,
            capacity: request.context as usize,
            cached: Vec::new(),
            context,
        })
    }

    /// The most tokens of a prompt and its answer together.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Keeps the state of the first `count` tokens of what is cached and forgets the rest; the
    /// number that were kept.
    pub fn keep(&mut self, count: usize) -> usize {
        let count = count.min(self.cached.len());
        let kept = count > 0
            && u32::try_from(count).is_ok_and(|from| {
                matches!(self.context.clear_kv_cache_seq(Some(0), Some(from), None), Ok(true))
            });
        if !kept {
            self.context.clear_kv_cache();
        }
        self.cached.truncate(if kept { count } else { 0 });
        self.cached.len()
    }

    /// How many tokens of a prompt are cached already, from its start.
    pub fn shared_with(&self, prompt: &[u32]) -> usize {
        self.cached.iter().zip(prompt).take_while(|(cached, token)| cached == token).count()
    }

    /// Evaluates tokens after those that are cached; afterwards [`Self::logits`] belong to the last.
    /// The caller keeps within [`Self::capacity`].
    pub fn evaluate(
        &mut self,
        tokens: &[u32],
        mut progress: impl FnMut(),
    ) -> Result<(), EvaluateError> {
        let failed = |error: &dyn std::fmt::Display| EvaluateError::Decode(error.to_string());
        let last_position = self.cached.len() + tokens.len();
        for chunk in tokens.chunks(self.batch_size) {
            if process::is_input_closed() {
                return Err(EvaluateError::Interrupted);
            }
            self.batch.clear();
            for token in chunk {
                self.cached.push(*token);
                let position = self.cached.len() as i32 - 1;
                let is_last = self.cached.len() == last_position;
                let added = self.batch.add(llama_token(*token), position, &[0], is_last);
                added.map_err(|error| failed(&error))?;
            }
            self.context.decode(&mut self.batch).map_err(|error| failed(&error))?;
            progress();
        }
        Ok(())
    }

    /// The logits after the last evaluated token.
    pub fn logits(&self) -> &[f32] {
        self.context.get_logits_ith(self.batch.n_tokens() - 1)
    }
}
