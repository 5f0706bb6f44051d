//! `fathom completions SHELL` and the hidden `fathom man-pages DIR`: generated from the definition that parses the
//! command line, so they cannot go out of date.

use crate::console;
use crate::exit::Usage;
use crate::line::Line;
use clap::Args;
use clap_complete::Shell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which shell completes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom completions bash > ~/.local/share/bash-completion/completions/fathom
  fathom completions zsh > ~/.zfunc/_fathom
  fathom completions fish > ~/.config/fish/completions/fathom.fish")]
pub struct Completions {
    /// The shell that completes
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Where manual pages go.
#[derive(Debug, Args)]
pub struct ManPages {
    /// Directory that is there
    pub dir: PathBuf,
}

pub fn run(options: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Line::shown(), "fathom", &mut script);
    console::out(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

/// Writes a manual page per command, except for drop-ins: clap does not define their options.
pub fn man_pages(options: &ManPages) -> anyhow::Result<ExitCode> {
    if !options.dir.is_dir() {
        return Err(Usage(format!("{} is not a directory", options.dir.display())).into());
    }
    write_pages(&Line::shown(), "fathom", &options.dir)?;
    Ok(ExitCode::SUCCESS)
}

fn write_pages(command: &clap::Command, name: &str, dir: &Path) -> anyhow::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    let path = dir.join(format!("{name}.1"));
    crate::output::put(&path, page, true)?;
    for below in command.get_subcommands().filter(|c| !c.is_hide_set() && has_page(c.get_name())) {
        write_pages(below, &format!("{name}-{}", below.get_name()), dir)?;
    }
    Ok(())
}

/// Excludes `help`, which only prints the others, and the drop-ins.
fn has_page(command: &str) -> bool {
    !["help", "iozone", "sysbench", "filebench", "fio"].contains(&command)
}
