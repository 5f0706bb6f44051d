//! `fathom completions SHELL` and the hidden `fathom man-pages DIR`: what a shell and `man` know of the command line, made from the
//! definition that reads it, so that neither can lag behind.

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

/// Prints the script of a shell.
pub fn run(options: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Line::shown(), "fathom", &mut script);
    console::out(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

/// Writes a manual page for each command. Those of the drop-ins are not among them: their options are not clap's.
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

/// Not `help`, which only prints the others, and not the drop-ins.
fn has_page(command: &str) -> bool {
    !["help", "iozone", "sysbench", "filebench", "fio"].contains(&command)
}
