//! The built-in flowop types, the defaults of an operation, and checks for operations that can never work.

use super::fault::{Fallible, Fault};
use super::filesets::CompiledSet;
use super::values::Scope;
use crate::filebench::Span;
use crate::filebench::ast::{Attribute, Attributes};
use fathom_workload::{Act, Bytes, FlowOp, Sizing, Value};

/// Descriptor slots per thread.
const SLOTS: u64 = 128;

/// Built-in types, newest first as printed by `list flowop`.
pub(super) const TYPES: [(&str, Act); 32] = [
    ("aiowait", Act::AsyncWait),
    ("aiowrite", Act::AsyncWrite),
    ("testrandvar", Act::Draw),
    ("print", Act::Say),
    ("writewholefile", Act::WriteWholeFile),
    ("deletefile", Act::Delete),
    ("appendfilerand", Act::AppendRandomLength),
    ("appendfile", Act::Append),
    ("readwholefile", Act::ReadWholeFile),
    ("statfile", Act::Stat),
    ("fsyncset", Act::SyncSet),
    ("fsync", Act::Sync),
    ("listdir", Act::ListDirectory),
    ("removedir", Act::RemoveDirectory),
    ("makedir", Act::MakeDirectory),
    ("closefile", Act::Close),
    ("createfile", Act::Create),
    ("openfile", Act::Open),
    ("finishonbytes", Act::FinishOnBytes),
    ("finishoncount", Act::FinishOnCount),
    ("opslimit", Act::LimitOps),
    ("iopslimit", Act::LimitIops),
    ("bwlimit", Act::LimitBandwidth),
    ("eventlimit", Act::LimitEvents),
    ("delay", Act::Delay),
    ("hog", Act::Spin),
    ("sempost", Act::SemaphorePost),
    ("semblock", Act::SemaphoreWait),
    ("wakeup", Act::Wake),
    ("block", Act::Block),
    ("read", Act::Read),
    ("write", Act::Write),
];

pub(super) fn operation(name: String, act: Act) -> FlowOp {
    FlowOp::new(name, act)
}

pub(super) fn number(n: u64) -> Value {
    u32::try_from(n).map_or(Value::Bytes(Bytes(n)), Value::Number)
}

/// The descriptor slot; slot 0 is each thread's unnamed one.
pub(super) fn slot(attributes: &Attributes, name: &str, scope: &Scope) -> Fallible<Option<u32>> {
    match scope.integer(attributes, name)? {
        None | Some(0) => Ok(None),
        Some(n) if n < SLOTS => Ok(Some(n as u32)),
        Some(n) => {
            let span = attributes.last(name).map_or(Span::default(), Attribute::span);
            Err(Fault::new(span, format!("{name}={n} is not a slot: expected 0 to {}", SLOTS - 1)))
        }
    }
}

/// Checks that 1.5 only makes during the run.
pub(super) fn check(op: &FlowOp, span: Span) -> Fallible<()> {
    let moves =
        matches!(op.act, Act::Read | Act::Write | Act::Append | Act::AppendRandomLength | Act::AsyncWrite);
    if moves && op.size == Value::default() {
        return Err(Fault::new(span, format!("flowop {} has no iosize", op.name))
            .hint("add iosize=..., the bytes of one I/O"));
    }
    if op.act == Act::AsyncWrite && !op.random {
        return Err(Fault::new(span, format!("flowop {}: aiowrite works with random offsets only", op.name))
            .hint("add random, or use write"));
    }
    let needs_target = matches!(op.act, Act::Wake | Act::SemaphorePost);
    if needs_target && op.target.is_none() {
        return Err(
            Fault::new(span, format!("flowop {} has no target", op.name)).hint("add target=NAME of a flowop")
        );
    }
    Ok(())
}

/// The largest I/O of an operation; `None` if it is random.
pub(super) fn fixed(value: &Value) -> Option<u64> {
    match value {
        Value::Number(n) => Some((*n).into()),
        Value::Bytes(b) => Some(b.0),
        Value::Variable { .. } => None,
    }
}

/// The size of a set's files; `None` if it is random.
pub(super) fn fixed_size(set: &CompiledSet) -> Option<u64> {
    match set.set.size {
        Sizing::Fixed(Bytes(bytes)) => Some(bytes),
        Sizing::Variable(_) | Sizing::Each(_) => None,
    }
}
