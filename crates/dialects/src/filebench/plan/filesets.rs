//! Compiles `define file` and `define fileset` to file sets of the model when they are created, and 1.5's log lines for them.

use super::fault::{Fallible, Fault};
use super::values::{Known, RandomId, Scope, Variables};
use super::{Found, Options, Wml};
use crate::filebench::Span;
use crate::filebench::ast::{Attributes, Variable};
use fathom_workload::{
    Bytes, Existing, FileSet, Files, Generator, RandomVariable, Shape, Share, Sizing, Tree,
};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Default file size in bytes.
const DEFAULT_BYTES: u64 = 1024;
/// Default gamma shape of widths, depths and, before 1.5, sizes, in thousandths.
const DEFAULT_GAMMA: u64 = 1500;

/// A `define file` or `define fileset`, with the context of its definition.
#[derive(Clone, Debug)]
pub(super) struct SetDefinition {
    pub source: usize,
    pub span: Span,
    pub attributes: Attributes,
    /// `define file`
    pub single: bool,
    pub name: String,
    pub randoms: HashMap<Variable, RandomId>,
}

/// A file set, with data that is not in the model because only the log or the creation needs it.
#[derive(Clone, Debug)]
pub(super) struct CompiledSet {
    pub set: FileSet,
    pub single: bool,
    /// Path of the tree or file.
    pub root: PathBuf,
    /// Whether an existing tree is kept.
    pub reuse: bool,
    /// How the script opens its files; a run that writes nothing opens them for reading only.
    pub share: Share,
    /// Whether it is evicted from the page cache after creation.
    pub evict: bool,
    pub notes: Vec<String>,
}

/// Random variables of a workload, added when first used.
#[derive(Default)]
pub(super) struct RandomVariables(pub BTreeMap<String, RandomVariable>);

impl RandomVariables {
    /// The name of a random variable in the workload.
    pub fn name_of(&mut self, id: RandomId, scope: &Scope) -> Fallible<String> {
        let definition = &scope.variables.randoms[id.0];
        if !self.0.contains_key(&definition.name) {
            self.0.insert(definition.name.clone(), definition.compile(scope)?);
        }
        Ok(definition.name.clone())
    }
}

impl SetDefinition {
    /// The file set with the current values of variables.
    pub fn compile(
        &self,
        variables: &Variables,
        options: &Options,
        look: &dyn Fn(&Path) -> Found,
        drawn: &mut RandomVariables,
    ) -> Fallible<CompiledSet> {
        let scope = Scope { variables, randoms_then: &self.randoms, locals: None };
        let a = &self.attributes;
        let what = if self.single { "file" } else { "fileset" };
        let path = scope.text(a, "path")?.ok_or_else(|| {
            self.fault(format!("{what} {} specifies no path", self.name)).hint("add path=...")
        })?;
        let root = Path::new(&path).join(&self.name);
        let flag = |name: &str| Ok(scope.boolean(a, name)?.unwrap_or(false));
        let (trust, read_only, write_only) = (flag("trusttree")?, flag("readonly")?, flag("writeonly")?);
        let reuse = flag("reuse")? || trust;
        if read_only && write_only {
            return Err(self.fault(format!("{what} {} is both readonly and writeonly", self.name)));
        }
        let mut notes = Vec::new();
        let replace = options.replaces(&root);
        let found = look(&root);
        let plain = self.single
            && match found {
                Found::File { .. } => reuse || read_only,
                Found::BlockDevice { .. } => true,
                Found::Missing => options.wml == Wml::V1_0,
                Found::Directory => false,
            };
        if matches!(found, Found::File { .. }) && !plain && !replace && options.wml != Wml::V1_0 {
            return Err(self
                .fault(format!(
                    "{} is a file that is there already, and {what} {} would destroy it",
                    root.display(),
                    self.name
                ))
                .hint(format!(
                    "add reuse or readonly to use it as it is, or allow its loss with --replace {}",
                    root.display()
                )));
        }
        let percent = self.preallocated(&scope)?;
        let tilde =
            path.starts_with('~').then_some("~ is no home directory here, but a name; write the whole path");
        // A system command may create a tree before the run.
        if self.single && found == Found::Missing && !plain && percent == 0 && (read_only || trust) {
            let word = if read_only { "readonly" } else { "trusttree" };
            return Err(self
                .fault(format!(
                    "{} is not there, and file {} is {word}, so that nothing makes it",
                    root.display(),
                    self.name
                ))
                .hint(
                    tilde.unwrap_or("name what is there with path and name, or add prealloc to have it made"),
                ));
        }
        notes.extend(tilde.map(|why| format!("path={path}: {why}")));
        let found_bytes = match found {
            Found::File { bytes } | Found::BlockDevice { bytes } => Some(bytes),
            Found::Missing | Found::Directory => None,
        };
        let size = self.size(&scope, options, found_bytes.filter(|_| plain), drawn)?;
        if let (true, Some(real), Sizing::Fixed(Bytes(wanted))) = (plain, found_bytes, &size)
            && real < *wanted
            && !trust
        {
            return Err(self
                .fault(format!("{} has {real} bytes, but size={wanted} is asked for", root.display()))
                .hint("leave out size to use all of the file; it is never made longer"));
        }
        let existing = match (replace, reuse || plain) {
            (_, true) if found != Found::Missing || reuse => Existing::Reuse,
            (true, _) => Existing::Replace,
            (false, _) => Existing::Refuse,
        };
        let files = if plain || (options.wml == Wml::V1_0 && self.single) {
            Files::List(vec![root.clone()])
        } else {
            Files::Tree(self.tree(&root, &scope, drawn, &mut notes)?)
        };
        let share = match (read_only, write_only) {
            (true, _) => Share::ReadOnly,
            (_, true) => Share::WriteOnly,
            _ => Share::ReadWrite,
        };
        let set = FileSet {
            name: self.name.clone(),
            files,
            size,
            existing,
            may_modify: replace,
            keep: true,
            mode: 0o644,
            data: fathom_workload::Data::default(),
            preallocated_percent: if plain && found_bytes.is_some() { 100 } else { percent },
            share,
            trust_sizes: trust,
            // The original starts measuring while the new files are still in the cache.
            leave_dirty: true,
            prepare_record: FileSet::PREPARE_RECORD,
            make_directories: false,
        };
        let evict = !scope.boolean(a, "cached")?.unwrap_or(options.wml == Wml::V1_5);
        Ok(CompiledSet { set, single: self.single, root, reuse, share, evict, notes })
    }

    fn fault(&self, message: String) -> Fault {
        Fault::new(self.span, message)
    }

    fn size(
        &self,
        scope: &Scope,
        options: &Options,
        real: Option<u64>,
        drawn: &mut RandomVariables,
    ) -> Fallible<Sizing> {
        let gamma = match scope.integer(&self.attributes, "filesizegamma")? {
            Some(gamma) => gamma,
            None if options.wml != Wml::V1_5 => DEFAULT_GAMMA,
            None => 0,
        };
        let bytes = match scope.number(&self.attributes, "size")? {
            Some(Known::Random(id)) => return Ok(Sizing::Variable(drawn.name_of(id, scope)?)),
            Some(Known::Integer(bytes)) => bytes,
            _ => match real {
                Some(bytes) => return Ok(Sizing::Fixed(Bytes(bytes))),
                None => DEFAULT_BYTES,
            },
        };
        if gamma == 0 || self.single || bytes == 0 {
            return Ok(Sizing::Fixed(Bytes(bytes)));
        }
        // Up to 1.4 constant sizes are the mean of a gamma distribution.
        let name = format!("{}.size", self.name);
        let shape = Shape::Gamma { shape: gamma as f64 / 1000.0, mean: bytes as f64, offset: 0.0 };
        let variable = RandomVariable { generator: Generator::ProcessRand48, ..RandomVariable::new(shape) };
        drawn.0.insert(name.clone(), variable);
        Ok(Sizing::Variable(name))
    }

    fn tree(
        &self,
        root: &Path,
        scope: &Scope,
        drawn: &mut RandomVariables,
        notes: &mut Vec<String>,
    ) -> Fallible<Tree> {
        if self.single {
            let width = Sizing::Fixed(Bytes(10));
            return Ok(Tree {
                root: root.into(),
                entries: 1,
                leaf_directories: 0,
                width,
                gamma_thousandths: 0,
                depth: None,
            });
        }
        let a = &self.attributes;
        let entries = self.entries(scope, drawn)?;
        let leaf_directories = scope.integer(a, "leafdirs")?.unwrap_or(0);
        if entries > 0 && leaf_directories > 0 {
            return Err(self
                .fault(format!("fileset {} has both entries and leafdirs, whose names collide", self.name))
                .hint("define two filesets"));
        }
        if entries == 0 && leaf_directories == 0 {
            notes.push(format!(
                "fileset {} has no files or leafdirs: entries and leafdirs are both 0",
                self.name
            ));
        }
        let width = match scope.number(a, "dirwidth")? {
            Some(Known::Random(id)) => Sizing::Variable(drawn.name_of(id, scope)?),
            Some(Known::Integer(width)) => Sizing::Fixed(Bytes(width)),
            _ => {
                notes
                    .push(format!("fileset {} has no dirwidth: each file gets its own directory", self.name));
                Sizing::Fixed(Bytes(0))
            }
        };
        let gamma = scope.integer(a, "dirgamma")?.unwrap_or(DEFAULT_GAMMA);
        let gamma_thousandths =
            u32::try_from(gamma).map_err(|_| self.fault(format!("dirgamma={gamma} is too large")))?;
        let depth = match a.last("dirdepthrv") {
            None => None,
            Some(attribute) => match scope.known_attribute(attribute)? {
                Known::Random(id) => Some(drawn.name_of(id, scope)?),
                _ => {
                    return Err(Fault::new(attribute.span(), "dirdepthrv has to be a random variable")
                        .hint("set $depth=randvar(...), then dirdepthrv=$depth"));
                }
            },
        };
        Ok(Tree { root: root.into(), entries, leaf_directories, width, gamma_thousandths, depth })
    }

    /// The number of entries; a random one is drawn once, here.
    fn entries(&self, scope: &Scope, drawn: &mut RandomVariables) -> Fallible<u64> {
        match scope.number(&self.attributes, "entries")? {
            Some(Known::Integer(n)) => Ok(n),
            Some(Known::Random(id)) => {
                let name = drawn.name_of(id, scope)?;
                let sampler = drawn.0.get(&name).and_then(|v| fathom_workload::ops::Sampler::new(v, 1));
                // 1.5 draws twice and uses the second value.
                Ok(sampler.map_or(0, |mut s| {
                    s.draw_u64();
                    s.draw_u64()
                }))
            }
            _ => Ok(0),
        }
    }

    fn preallocated(&self, scope: &Scope) -> Fallible<u8> {
        let Some(attribute) = self.attributes.last("prealloc") else { return Ok(0) };
        match scope.known_attribute(attribute)? {
            Known::Boolean(all) => Ok(if all { 100 } else { 0 }),
            Known::Integer(percent @ 0..=100) => Ok(percent as u8),
            Known::Integer(percent) => Err(Fault::new(
                attribute.span(),
                format!("prealloc={percent} is more than all: expected 0 to 100 percent"),
            )),
            other => Err(super::values::wrong_kind(attribute, "true, false or a percentage", &other)),
        }
    }
}
