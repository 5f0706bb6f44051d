//! Texts for `-h`, for a command line without options, and for `-c`.

use crate::filebench::plan::CUSTOM;

/// Text of `-h`: the original's options first, then fathom's.
#[must_use]
pub fn usage(program: &str) -> String {
    format!(
        "\
Usage: {program} {{-f <wmlscript> | -h | -c [cvartype]}}

  fathom's Filebench: runs scripts of the Workload Model Language, 1.0 to 1.5,
  and prints what Filebench 1.5-alpha3 prints.

Options:
   -f <wmlscript> generate workload from the specified file
   -h             display this help message
   -c             display supported cvar types
   -c [cvartype]  display options of the specific cvar type

Options that Filebench does not have:
   --set NAME=VALUE  give a variable a value; its set lines in the script do nothing
   --run SECONDS     run so long; a script without run gets one at its end
   --check           read the script, print the workload it comes to, run nothing
   --wml VERSION     meaning of the words: 1.5 (default), 1.4, or 1.0; without -f
                     and with 1.4 or 1.0 the script is read from stdin
   --format FORM     form of the results: 1.5 (default), 1.4, 1.1, or seed (the file
                     that stats dump wrote); --seed-format is --format seed
   --replace PATH    allow the loss of a tree, file or device that fathom did not make
   --store FILE      keep the run in this file; --no-store keeps it nowhere
"
    )
}

/// Text of `-c`.
#[must_use]
pub fn custom_types() -> String {
    let types: String = CUSTOM.iter().map(|c| format!("  {}\n", c.0)).collect();
    format!("Custom variable types supported:\n{types}")
}

/// Text of `-c TYPE`.
#[must_use]
pub fn custom_type(name: &str) -> String {
    let Some((name, parameters)) = CUSTOM.iter().find(|c| c.0 == name) else {
        return format!("Unknown custom variable type {name}.\n");
    };
    let mut text = format!(
        "Custom variable type: {name}\nSupporting library: built in\nVersion: {}\nUsage:\n\tparameter\tdefault\n\t---------\t-------\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut pairs = Vec::new();
    for (parameter, default) in *parameters {
        text += &format!("\t{parameter}\t\t{default:?}\n");
        pairs.push(format!("{parameter}:{default:?}"));
    }
    let delimiters = if pairs.len() > 1 {
        "Use ';' to delimit parameters and ':' to delimit key-value pairs."
    } else {
        "Use ':' for assignment."
    };
    text + &format!("{delimiters}\nExample: '{}'\n", pairs.join(";"))
}
