//! A flow: a list of operations that a thread executes in order, repeatedly. Each operation names the file set it picks from and the slot
//! (numbered open descriptor of the thread) it works on.

use super::is_default;
use serde::{Deserialize, Serialize};

/// A list of operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The operations.
    #[serde(rename = "op")]
    pub ops: Vec<FlowOp>,
    /// Complete passes through the list; `None`: until a stop rule ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<u64>,
    /// Source of random offsets, buffer positions and random lengths.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offsets: Offsets,
    /// Also measure the thread's CPU time per operation: two more system calls each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpu_time: bool,
}

/// Source of a flow's random offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offsets {
    /// Xoshiro256++, from the workload's seed and the worker.
    #[default]
    Seeded,
    /// MT19937 filled by s[0] = this, s[i] = 69069 s[i-1]; a fresh one in every process. The first worker uses it; the process's other
    /// workers have their own, seeded with this plus their number.
    Mt19937(u32),
}

/// One operation of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOp {
    /// Row name in results.
    pub name: String,
    /// What it does.
    pub act: Act,
    /// The operations of a [`Act::Sequence`], executed in order.
    #[serde(default, rename = "op", skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<FlowOp>,
    /// File set it picks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fileset: Option<String>,
    /// Descriptor slot; without it the thread's default slot of the file set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// Slot whose file gives the length for a whole-file write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_slot: Option<u32>,
    /// Bytes per I/O; 0 for whole-file operations means the file in one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub size: Value,
    /// Range of random offsets; 0: the file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub working_set: Value,
    /// Random offsets are picked from these instead, with equal probability.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<crate::Bytes>,
    /// Random offset instead of the next one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub random: bool,
    /// Repeats before the next operation.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeat: Value,
    /// Use the next slot each time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rotate: bool,
    /// Entry of the set to pick, instead of the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Value>,
    /// Open with O_DIRECT.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direct: bool,
    /// Open with O_SYNC.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync: bool,
    /// Switch read-ahead off on the file this opens.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_readahead: bool,
    /// Count, bytes, seconds or loops, by kind of act.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: Value,
    /// Text printed by [`Act::Say`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Operation that is woken, posted to, or metered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// A poster waits when it is `high_water` ahead.
    #[serde(default, skip_serializing_if = "is_default")]
    pub blocking: bool,
    /// See `blocking`.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub high_water: Value,
}

impl FlowOp {
    /// An operation executed once, with no file set or slot yet.
    #[must_use]
    pub fn new(name: impl Into<String>, act: Act) -> Self {
        Self {
            name: name.into(),
            act,
            ops: Vec::new(),
            fileset: None,
            slot: None,
            source_slot: None,
            size: Value::default(),
            working_set: Value::default(),
            positions: Vec::new(),
            random: false,
            repeat: once(),
            rotate: false,
            entry: None,
            direct: false,
            sync: false,
            no_readahead: false,
            value: Value::default(),
            text: String::new(),
            target: None,
            blocking: false,
            high_water: once(),
        }
    }
}

/// A number in a flow: fixed, or drawn from a random variable each time it is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a number, a size such as \"8KiB\", or { variable = \"name\" }"
)]
pub enum Value {
    /// Fixed.
    Number(u32),
    /// Fixed, with a unit.
    Bytes(crate::Bytes),
    /// Drawn.
    Variable {
        /// Its name.
        variable: String,
    },
}

impl Default for Value {
    fn default() -> Self {
        Self::Number(0)
    }
}

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Read once.
    Read,
    /// Write once.
    Write,
    /// Read from 0 to the end.
    ReadWholeFile,
    /// Write the whole file.
    WriteWholeFile,
    /// Seek to the end and write.
    Append,
    /// Like `Append`, with a random length up to the size.
    AppendRandomLength,
    /// Open an existing file.
    Open,
    /// Create a file that does not exist.
    Create,
    /// Close a slot.
    Close,
    /// Remove a file.
    Delete,
    /// stat or fstat.
    Stat,
    /// fsync a slot.
    Sync,
    /// fsync every open slot of the set.
    SyncSet,
    /// Make a leaf directory.
    MakeDirectory,
    /// Remove a leaf directory.
    RemoveDirectory,
    /// Read a directory to its end.
    ListDirectory,
    /// Start an asynchronous write.
    AsyncWrite,
    /// Wait for half of those outstanding.
    AsyncWait,
    /// Wait to be woken.
    Block,
    /// Wake every instance of the target.
    Wake,
    /// Take from a counting semaphore.
    SemaphoreWait,
    /// Give to a counting semaphore.
    SemaphorePost,
    /// Compute.
    Spin,
    /// Sleep.
    Delay,
    /// Take one event of the generator.
    LimitEvents,
    /// Take one event per read or write of the target.
    LimitIops,
    /// Take one event per operation of the target.
    LimitOps,
    /// Take one event per MiB of the target.
    LimitBandwidth,
    /// End the run after this many completions.
    FinishOnCount,
    /// End the run after this many bytes.
    FinishOnBytes,
    /// Print a message; not counted.
    Say,
    /// Draw `value` and discard it; not counted.
    Draw,
    /// Execute the operations inside; not counted itself.
    Sequence,
}

fn once() -> Value {
    Value::Number(1)
}

fn is_once(value: &Value) -> bool {
    *value == once()
}
