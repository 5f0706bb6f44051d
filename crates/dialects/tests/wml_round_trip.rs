//! Printing and parsing are inverse for any script. The strategies below are a second grammar, written from
//! the language's description and not from the parser, so that each checks the other.

use fathom_dialects::filebench::ast::{
    Attribute, Attributes, Command, Composite, Created, FlowopUse, INTEGER_MAX, Listed, Local, Number,
    Operator, Piece, Process, QuitMode, Script, Stats, TableRow, Text, Thread, Value, Variable, VariableForm,
};
use fathom_dialects::filebench::{Spanned, parse, print};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const FILESET: &[&str] = &[
    "name",
    "path",
    "size",
    "filesize",
    "entries",
    "leafdirs",
    "dirwidth",
    "dirgamma",
    "dirdepthrv",
    "prealloc",
    "paralloc",
    "reuse",
    "trusttree",
    "readonly",
    "writeonly",
    "cached",
    "filesizegamma",
    "namelength",
];
const FILE: &[&str] = &["name", "path", "size", "filesize", "prealloc", "reuse", "readonly", "cached"];
const FLOWOP: &[&str] = &[
    "name",
    "filename",
    "filesetname",
    "fd",
    "srcfd",
    "iosize",
    "workingset",
    "random",
    "iters",
    "opennext",
    "indexed",
    "dsync",
    "directio",
    "noreadahead",
    "value",
    "target",
    "blocking",
    "highwater",
    "possetname",
];

fn integer() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..100_u64,
        (0..4096_u64, 0..4_u32).prop_map(|(n, i)| n << (10 * i)),
        Just(INTEGER_MAX),
        0..=INTEGER_MAX
    ]
}

/// A bare word that is not a keyword; some are commands of the older language.
fn word() -> impl Strategy<Value = String> {
    let older =
        select(vec!["log", "stats", "cached", "read", "running", "-", "/", "-10k", "SET", "vars", "exit"]);
    prop_oneof![
        3 => "[A-Z/][a-zA-Z0-9/._:;-]{0,10}",
        2 => "w[a-z]{0,3}-[a-zA-Z0-9/._:;-]{0,5}",
        1 => "-[a-z][a-z0-9-]{0,5}",
        1 => older.prop_map(str::to_owned),
    ]
}

fn variable() -> impl Strategy<Value = Variable> {
    prop_oneof![
        6 => "[a-zA-Z][a-zA-Z0-9_]{0,5}[a-zA-Z0-9]".prop_map(Variable::plain),
        1 => "[a-zA-Z][a-zA-Z0-9_.]{0,6}".prop_map(|name| Variable { form: VariableForm::Braced, name }),
        1 => "[a-zA-Z][a-zA-Z0-9_.]{0,6}".prop_map(|name| Variable { form: VariableForm::Parenthesised, name }),
    ]
}

/// Whether the text would be read as part of a preceding variable's name.
fn continues(name: &Variable, text: &str) -> bool {
    name.form == VariableForm::Plain
        && text.trim_start_matches('_').starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// An optional word, then variables with optional words between.
fn joined() -> impl Strategy<Value = Value> {
    let head = prop_oneof![
        3 => Just(None),
        1 => word().prop_map(Some),
        1 => select(vec!["10k", "5", "-5", "99999999999999999999", "9223372036854775807g", "file", "true", "randvar", "run"])
            .prop_map(|s| Some(s.to_owned())),
    ];
    let tail = prop_oneof![
        Just(None),
        "[/._:-][a-z0-9/][a-z0-9/._:;-]{0,4}".prop_map(Some),
        select(vec!["/", "-"]).prop_map(|s| Some(s.to_owned()))
    ];
    (head, vec((variable(), tail), 1..4)).prop_filter_map(
        "one variable alone is not joined",
        |(head, rest)| {
            let mut pieces: Vec<Piece> = head.into_iter().map(Piece::Literal).collect();
            for (name, tail) in rest {
                let tail = tail.filter(|tail| !continues(&name, tail));
                pieces.push(Piece::Variable(name));
                pieces.extend(tail.map(Piece::Literal));
            }
            (pieces.len() > 1).then_some(Value::Joined(pieces))
        },
    )
}

/// A piece of a string as the lexer reads it.
fn raw_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Z #,=(){};\t\né][a-z \\\\\n{}()=,#/é]{0,8}[A-Zé. \n]",
        1 => "[a-c0-9 ]",
        1 => "[$][a-z ={(]{0,5}",
        1 => Just("\n".to_owned()),
    ]
}

/// A string as a value: alternating literals and variables.
fn quoted() -> impl Strategy<Value = Text> {
    (option::of(raw_piece()), vec((variable(), option::of(raw_piece())), 0..3)).prop_filter_map(
        "empty",
        |(head, rest)| {
            let mut pieces: Vec<Piece> = head.into_iter().map(Piece::Literal).collect();
            for (name, literal) in rest {
                let literal = literal.filter(|literal| !continues(&name, literal));
                pieces.push(Piece::Variable(name));
                pieces.extend(literal.map(Piece::Literal));
            }
            (!pieces.is_empty()).then_some(Text { pieces })
        },
    )
}

/// The text of `echo`: any pieces, with adjacent literals merged as for several strings. Includes keywords.
fn text() -> impl Strategy<Value = Spanned<Text>> {
    let literal =
        prop_oneof![4 => raw_piece(), 1 => select(vec!["run", "min", "files", "n"]).prop_map(str::to_owned)];
    let piece = prop_oneof![literal.prop_map(Piece::Literal), variable().prop_map(Piece::Variable)];
    vec(piece, 1..6).prop_map(|all| {
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in all {
            match (pieces.last_mut(), piece) {
                (Some(Piece::Literal(last)), Piece::Literal(more)) => last.push_str(&more),
                (_, piece) => pieces.push(piece),
            }
        }
        Text { pieces }.into()
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        integer().prop_map(Value::Integer),
        any::<bool>().prop_map(Value::Boolean),
        word().prop_map(Value::Word),
        quoted().prop_map(Value::Quoted),
        variable().prop_map(Value::Variable),
        joined(),
    ]
}

fn spanned(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Spanned<Value>> {
    value.prop_map(Spanned::from)
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![integer().prop_map(Number::Integer), variable().prop_map(Number::Variable)]
}

fn attributes(names: &'static [&'static str]) -> impl Strategy<Value = Attributes> {
    vec((select(names), option::of(value())), 1..5).prop_map(|list| {
        Attributes(list.into_iter().map(|(name, value)| Attribute::new(name, value)).collect())
    })
}

fn table() -> impl Strategy<Value = Value> {
    let row = (number(), number(), number()).prop_map(|(percent, low, high)| {
        Spanned::from(TableRow { percent: percent.into(), low: low.into(), high: high.into() })
    });
    vec(row, 1..4).prop_map(Value::Table)
}

fn choice(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    select(words).prop_map(|word| Value::Word(word.to_owned()))
}

fn random_attributes() -> impl Strategy<Value = Attributes> {
    let attribute = prop_oneof![
        (select(&["name", "seed", "min", "mean", "gamma", "round"][..]), option::of(value()))
            .prop_map(|(name, value)| Attribute::new(name, value)),
        choice(&["uniform", "gamma", "tabular"]).prop_map(|value| Attribute::new("type", Some(value))),
        choice(&["rand48", "urandom"]).prop_map(|value| Attribute::new("randsrc", Some(value))),
        table().prop_map(|value| Attribute::new("randtable", Some(value))),
    ];
    vec(attribute, 1..5).prop_map(Attributes)
}

fn custom_attributes() -> impl Strategy<Value = Attributes> {
    let text = prop_oneof![word().prop_map(Value::Word), quoted().prop_map(Value::Quoted)];
    let attribute = prop_oneof![
        (select(&["min", "max", "round"][..]), option::of(value()))
            .prop_map(|(name, value)| Attribute::new(name, value)),
        (select(&["type", "parameters"][..]), text)
            .prop_map(|(name, value)| Attribute::new(name, Some(value))),
    ];
    vec(attribute, 1..4).prop_map(Attributes)
}

fn locals() -> impl Strategy<Value = Vec<Local>> {
    let local = (variable(), option::of(spanned(value())))
        .prop_map(|(variable, value)| Local { variable: variable.into(), value });
    vec(local, 0..3)
}

fn flowops() -> impl Strategy<Value = Vec<Spanned<FlowopUse>>> {
    let flowop = (word(), attributes(FLOWOP), locals()).prop_map(|(flowop_type, attributes, locals)| {
        Spanned::from(FlowopUse { flowop_type: flowop_type.into(), attributes, locals })
    });
    vec(flowop, 1..4)
}

fn process() -> impl Strategy<Value = Process> {
    let thread = (attributes(&["name", "instances", "memsize", "useism", "ioprio"]), flowops())
        .prop_map(|(attributes, flowops)| Spanned::from(Thread { attributes, flowops }));
    (attributes(&["name", "instances", "nice", "procname"]), vec(thread, 1..3))
        .prop_map(|(attributes, threads)| Process { attributes, threads })
}

fn set() -> impl Strategy<Value = Command> {
    let operator = select(vec![Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide]);
    let arithmetic = (number(), operator, number()).prop_map(|(left, operator, right)| Value::Arithmetic {
        left,
        operator,
        right,
    });
    let field = prop_oneof![
        (select(vec!["min", "mean", "seed"]), value().boxed()),
        (Just("type"), choice(&["uniform", "tabular"]).boxed()),
        (Just("randsrc"), choice(&["rand48"]).boxed()),
    ];
    let plain = prop_oneof![
        4 => value(),
        1 => arithmetic,
        1 => random_attributes().prop_map(Value::RandVar),
        1 => custom_attributes().prop_map(Value::CVar),
    ];
    prop_oneof![
        4 => (variable(), plain).prop_map(|(variable, value)| {
            Command::Set { variable: variable.into(), field: None, value: value.into() }
        }),
        1 => (variable(), field).prop_map(|(variable, (field, value))| {
            Command::Set { variable: variable.into(), field: Some(field.to_owned().into()), value: value.into() }
        }),
    ]
}

fn bare() -> impl Strategy<Value = Command> {
    select(vec![
        Command::SetModeQuit(QuitMode::Timeout),
        Command::SetModeQuit(QuitMode::AllDone),
        Command::SetModeQuit(QuitMode::FirstDone),
        Command::SetModeNoUseStats,
        Command::Create(Created::Files),
        Command::Create(Created::File),
        Command::Create(Created::Filesets),
        Command::Create(Created::Processes),
        Command::List(Listed::Filesets),
        Command::List(Listed::Flowops),
        Command::Version,
        Command::Quit,
        Command::EnableLathist,
        Command::ShutdownProcesses,
        Command::Stats(Stats::Clear),
        Command::Stats(Stats::Snap),
        Command::Vars,
        Command::Help,
        Command::EnableOsprof,
        Command::Run(None),
        Command::Eventgen(Attributes::default()),
        Command::Fsflush(Attributes::default()),
    ])
}

fn seconds() -> impl Strategy<Value = Spanned<Value>> {
    spanned(prop_oneof![integer().prop_map(Value::Integer), variable().prop_map(Value::Variable)])
}

fn file_name() -> impl Strategy<Value = Spanned<Value>> {
    spanned(prop_oneof![
        word().prop_map(Value::Word),
        quoted().prop_map(Value::Quoted),
        variable().prop_map(Value::Variable),
        joined(),
    ])
}

fn small() -> impl Strategy<Value = Command> {
    let period = prop_oneof![-i64::MAX..=i64::MAX, -100..100_i64];
    let psrun = option::of((period, option::of(integer()))).prop_map(|given| match given {
        None => Command::Psrun { period_s: None, seconds: None },
        Some((period, seconds)) => {
            Command::Psrun { period_s: Some(period.into()), seconds: seconds.map(Spanned::from) }
        }
    });
    let stats = (0..5, file_name()).prop_map(|(kind, file)| {
        Command::Stats(match kind {
            0 => Stats::Dump(file),
            1 => Stats::XmlDump(file),
            2 => Stats::MultiDump(file),
            3 => Stats::Command(file),
            _ => Stats::Directory(file),
        })
    });
    prop_oneof![
        bare(),
        psrun,
        stats,
        seconds().prop_map(|s| Command::Run(Some(s))),
        seconds().prop_map(Command::Sleep),
        seconds().prop_map(Command::Warmup),
        integer().prop_map(Command::Debug),
        text().prop_map(Command::Echo),
        text().prop_map(Command::System),
        text().prop_map(Command::Usage),
        text().prop_map(Command::Log),
        file_name().prop_map(Command::Load),
        attributes(&["rate"]).prop_map(Command::Eventgen),
        attributes(&["master", "client"]).prop_map(Command::EnableMulti),
        attributes(&["value"]).prop_map(Command::Domultisync),
    ]
}

fn definition() -> impl Strategy<Value = Command> {
    let composite = (attributes(&["name", "iters"]), locals(), flowops())
        .prop_map(|(attributes, locals, flowops)| Composite { attributes, locals, flowops });
    prop_oneof![
        attributes(FILE).prop_map(Command::DefineFile),
        attributes(FILESET).prop_map(Command::DefineFileset),
        attributes(&["name", "type", "seed", "max", "entries"]).prop_map(Command::DefinePosset),
        random_attributes().prop_map(Command::DefineRandVar),
        process().prop_map(Command::DefineProcess),
        composite.prop_map(Command::DefineFlowop),
    ]
}

fn script() -> impl Strategy<Value = Script> {
    let command = prop_oneof![set(), small(), definition()].prop_map(Spanned::from).boxed();
    let nested = command.prop_recursive(3, 12, 3, |inner| {
        (variable(), vec(spanned(value()), 1..4), vec(inner, 0..3))
            .prop_map(|(variable, values, commands)| {
                Command::Foreach { variable: variable.into(), values, body: Script { commands } }.into()
            })
            .boxed()
    });
    vec(nested, 0..6).prop_map(|commands| Script { commands })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(script in script()) {
        let printed = print(&script);
        let parsed = parse(&printed);
        prop_assert!(parsed.errors.is_empty(), "{printed}\n{:#?}", parsed.errors);
        prop_assert!(parsed.warnings.is_empty(), "{printed}\n{:#?}", parsed.warnings);
        prop_assert_eq!(&parsed.script, &script, "{}", printed);
        prop_assert_eq!(print(&parsed.script), printed);
    }

    #[test]
    fn what_is_read_is_printed_so_that_it_is_read_again(pieces in vec(fragment(), 0..30)) {
        let text = pieces.concat();
        let parsed = parse(&text);
        prop_assert!(parsed.errors.len() <= 20);
        let lines = text.split('\n').count();
        for found in parsed.errors.iter().chain(&parsed.warnings) {
            prop_assert!((1..=lines).contains(&found.line) && found.column > 0 && found.length > 0, "{found:?}");
            prop_assert!(found.render("f", &text).starts_with("f:"));
        }
        if parsed.errors.is_empty() {
            let printed = print(&parsed.script);
            let again = parse(&printed);
            prop_assert!(again.errors.is_empty(), "{text}\n{printed}\n{:#?}", again.errors);
            prop_assert_eq!(again.script, parsed.script, "{}\n{}", text, printed);
        }
    }
}

/// Fragments of scripts, valid and invalid.
fn fragment() -> impl Strategy<Value = String> {
    let words = select(vec![
        "set ",
        "set $ab=",
        "define file name=f1,path=/tmp",
        "define process name=p1 {",
        "thread name=t1 {",
        "flowop read name=r1",
        "}",
        "{",
        "}}\n",
        ",",
        "=",
        "(",
        ")",
        "+",
        " * ",
        "/",
        "-",
        "-5",
        "5",
        "5k",
        "5t",
        "$ab",
        "$a",
        "${ab}",
        "$(ls",
        "\"",
        "\"x\"",
        "\\$",
        "\\n",
        "\\",
        "size=16k",
        "filsize=",
        "cached",
        "\n",
        " ",
        "#",
        "run ",
        "echo ",
        "echo \"a$ab\"",
        "randvar(",
        "type=gamma",
        "randtable={{1,2,3}}",
        "foreach $xx in 1,2 {",
        "stats ",
        "snap ",
        "é",
        "\r\n",
        ";",
        "/sub",
        ".mean",
        "_",
        "true",
        "psrun ",
    ]);
    prop_oneof![4 => words.prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}
