//! The arguments as typed values. Nothing here touches the system.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Summaries of document folders that can prove themselves.
#[derive(Debug, Parser)]
#[command(name = "dossier", version, propagate_version = true, disable_help_subcommand = true)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) verb: Verb,
}

/// What every command understands.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    /// The store's folder [default: the nearest .dossier upwards]
    #[arg(long, global = true, value_name = "PATH", env = "DOSSIER_STORE")]
    pub(super) store: Option<PathBuf>,
    /// Work in this folder
    #[arg(id = "work_in", short = 'C', global = true, value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Act for this principal [default: the first declared in dossier.toml]
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) principal: Option<String>,
    /// Print one JSON document
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Colour the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: When,
    /// Print no progress, hints or warnings
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print more
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// How progress is printed on stderr
    #[arg(long, global = true, value_name = "FORMAT", default_value = "auto")]
    pub(super) log_format: LogFormat,
    /// Wait so many seconds for another writer
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 5)]
    pub(super) wait: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// A live display on a terminal, lines elsewhere
    Auto,
    /// Lines
    Text,
    /// JSON lines
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Make a store and a commented dossier.toml
    Init(InitArgs),
    /// Mirror a folder of documents
    Import(ImportArgs),
    /// Take a document out of its dossier
    Withdraw(DocumentArgs),
    /// Let a withdrawn document take part again
    Restore(DocumentArgs),
    /// Hide a document from a principal
    Revoke(RevokeArgs),
    /// Show a document to a principal again
    Grant(GrantArgs),
    /// Say what a build would do
    Plan(TargetsArgs),
    /// Realise what is missing and publish the roots
    Build(BuildArgs),
    /// Show a root, or refuse it
    Show(ShowArgs),
    /// Say whether roots are current
    Status(StatusArgs),
    /// Say why a root is stale or a node would be rebuilt
    Why(WhyArgs),
    /// Follow a claim down to its quote
    Prov(ProvArgs),
    /// Draw the graph with statuses
    Graph(GraphArgs),
    /// Print the exact text of a version, or a span of it
    Cat(CatArgs),
    /// Print the preimage of a derivation's id
    Drv(DrvArgs),
    /// Run a verifier on its own
    Check(CheckArgs),
    /// Care for the store
    Store(StoreArgs),
    /// The controlled experiment
    Experiment(ExperimentArgs),
    /// Known models: list, fetch, check
    Model(ModelArgs),
    /// Examine store, settings and machine
    Doctor,
    /// Show the settings
    Config(ConfigArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Where [default: here]
    pub(super) directory: Option<PathBuf>,
    /// The kind of documents
    #[arg(long, value_parser = crate::settings::KINDS.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), default_value = "generic")]
    pub(super) kind: String,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The folder
    pub(super) path: PathBuf,
    /// The dossier [default: the folder's name; a folder of folders is one dossier each]
    #[arg(long, value_name = "NAME")]
    pub(super) dossier: Option<String>,
    /// Only print what would happen
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Withdraw vanished documents even if most of them vanished
    #[arg(long)]
    pub(super) allow_vanished: bool,
    /// Bind the dossier to this folder although it is bound to another
    #[arg(long)]
    pub(super) rebind: bool,
}

#[derive(Debug, Args)]
pub(super) struct DocumentArgs {
    /// The document
    pub(super) document: String,
}

#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// The document
    pub(super) document: String,
    /// The principal
    #[arg(long, value_name = "PRINCIPAL")]
    pub(super) from: String,
}

#[derive(Debug, Args)]
pub(super) struct GrantArgs {
    /// The document
    pub(super) document: String,
    /// The principal
    #[arg(long, value_name = "PRINCIPAL")]
    pub(super) to: String,
}

#[derive(Debug, Args)]
pub(super) struct TargetsArgs {
    /// Dossiers [default: all]
    pub(super) targets: Vec<String>,
    /// Look at the last imported state, not at the folder
    #[arg(long)]
    pub(super) imported: bool,
    /// What realises the nodes, instead of the settings' choice
    #[arg(long, value_name = "REALISER")]
    pub(super) realiser: Option<RealiserArg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RealiserArg {
    /// Rules, no model
    Extract,
    /// A local GGUF model
    Llama,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckLevel {
    /// Leaves only
    Leaf,
    /// Reduces only
    Reduce,
    /// Every node
    All,
}

#[derive(Debug, Args)]
pub(super) struct BuildArgs {
    /// Dossiers [default: all]
    pub(super) targets: Vec<String>,
    /// Threads of the model's process [default: the machine's cores]
    #[arg(short, long, value_name = "N")]
    pub(super) jobs: Option<u16>,
    /// Hash every file, whatever its size and times say (it is always so)
    #[arg(long)]
    pub(super) rehash: bool,
    /// Run nodes again beside the first and compare
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "all", require_equals = true)]
    pub(super) check: Option<CheckLevel>,
    /// Run every node again, reading and writing no cache
    #[arg(long, conflicts_with = "check")]
    pub(super) full: bool,
    /// Build the last imported state
    #[arg(long)]
    pub(super) no_import: bool,
    /// Do the work even where an equal resolved derivation is realised
    #[arg(long)]
    pub(super) no_cutoff: bool,
    /// The prompt profile, instead of the settings' choice
    #[arg(long, value_name = "PROFILE")]
    pub(super) profile: Option<String>,
    /// What realises the nodes, instead of the settings' choice
    #[arg(long, value_name = "REALISER")]
    pub(super) realiser: Option<RealiserArg>,
    /// Withdraw vanished documents even if most of them vanished
    #[arg(long)]
    pub(super) allow_vanished: bool,
    /// Stop before more model calls than this
    #[arg(long, value_name = "N")]
    pub(super) max_calls: Option<u64>,
    /// Stop before more generated tokens than this
    #[arg(long, value_name = "N")]
    pub(super) max_tokens: Option<u64>,
    /// After a fault, go on with what does not depend on it
    #[arg(long)]
    pub(super) keep_going: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The dossier; `S-010@-1` is the root before
    pub(super) target: String,
    /// Exit 13 if the root is PARTIAL
    #[arg(long)]
    pub(super) strict: bool,
    /// Show an old root, under a label
    #[arg(long)]
    pub(super) historical: bool,
    /// Look at the last imported state, not at the folder
    #[arg(long)]
    pub(super) imported: bool,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: ShowFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShowFormat {
    /// For a terminal
    Text,
    /// The same as --json
    Json,
    /// Markdown
    Md,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Dossiers [default: all]
    pub(super) targets: Vec<String>,
    /// Exit as `show` would
    #[arg(long)]
    pub(super) exit_code: bool,
    /// Look at the last imported state, not at the folder
    #[arg(long)]
    pub(super) imported: bool,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// A dossier, or a node (`S-010#leaf-04`)
    pub(super) target: String,
    /// Print every field that differs
    #[arg(long)]
    pub(super) all: bool,
}

#[derive(Debug, Args)]
pub(super) struct ProvArgs {
    /// The claim
    pub(super) claim: String,
    /// Hash every hop again
    #[arg(long)]
    pub(super) check: bool,
}

#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    /// The dossier [default: the only one]
    pub(super) target: Option<String>,
    /// The form of the drawing
    #[arg(long, value_name = "FORMAT", default_value = "tree")]
    pub(super) format: GraphFormat,
    /// Look at the last imported state, not at the folder
    #[arg(long)]
    pub(super) imported: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphFormat {
    /// An indented tree
    Tree,
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
    /// The same as --json
    Json,
}

#[derive(Debug, Args)]
pub(super) struct CatArgs {
    /// `DOC@2`, or a span of it: `DOC@2:120:154`
    // Every command has an argument `version` of its own: `--version`.
    #[arg(id = "named", value_name = "VERSION")]
    pub(super) version: String,
}

#[derive(Debug, Args)]
pub(super) struct DrvArgs {
    /// `drv:…`, or a node (`S-010#root`)
    pub(super) id: String,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The verifier
    pub(super) verifier: Verifier,
    /// The input [default: standard input]
    pub(super) file: Option<PathBuf>,
    /// One input a line, one output a line
    #[arg(long)]
    pub(super) jsonl: bool,
    /// Exit 1 if anything was refused
    #[arg(long)]
    pub(super) exit_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Verifier {
    /// A model's answer
    Claims,
    /// An evidence reference
    Evidence,
}

#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    pub(super) verb: StoreVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum StoreVerb {
    /// Check values, ids, edges, evidence and the journal
    Verify {
        /// Check only so much, as `10%`
        #[arg(long, value_name = "PERCENT")]
        subset: Option<String>,
        /// Go on where Ctrl-C stopped the last verification
        #[arg(long, conflicts_with = "subset")]
        resume: bool,
    },
    /// Count what is stored
    Stats,
    /// Print the journal's head
    Head,
}

#[derive(Debug, Args)]
pub(super) struct ExperimentArgs {
    #[command(subcommand)]
    pub(super) verb: ExperimentVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ExperimentVerb {
    /// Write the controlled world
    Generate {
        /// Where
        directory: PathBuf,
        /// Only these dossiers, as `S-010,S-011`
        #[arg(long, value_name = "LIST", value_delimiter = ',')]
        dossiers: Vec<String>,
        /// Write the labels to this other folder
        #[arg(long, value_name = "DIR2")]
        gold: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    #[command(subcommand)]
    pub(super) verb: ModelVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ModelVerb {
    /// List the known models
    List,
    /// Bring a known model into the cache folder
    Fetch {
        /// Its name
        #[arg(default_value = "qwen2.5-coder-0.5b")]
        name: String,
    },
    /// Hash the model that the settings name
    Check,
}

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    pub(super) verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Print every setting
    Show {
        /// Say where each comes from and whether it is part of a key
        #[arg(long)]
        origin: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

impl From<RealiserArg> for crate::settings::RealiserName {
    fn from(argument: RealiserArg) -> Self {
        match argument {
            RealiserArg::Extract => Self::Extract,
            RealiserArg::Llama => Self::Llama,
        }
    }
}
