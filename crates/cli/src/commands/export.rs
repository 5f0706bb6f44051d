//! `fathom export`: prints stored runs on stdout for other programs.

use crate::common::Common;
use crate::line::{Export, ExportFormat};
use crate::{console, state};
use std::process::ExitCode;

pub fn run(options: &Export, common: &Common) -> anyhow::Result<ExitCode> {
    let store = state::kept(common.store.as_deref())?;
    let runs = options.runs.iter().map(|r| store.load(r)).collect::<Result<Vec<_>, _>>()?;
    match options.format {
        ExportFormat::Json => {
            for run in &runs {
                console::out_raw(&fathom_record::export::json(run));
            }
        }
        ExportFormat::Csv => console::out_raw(&fathom_record::export::csv(&runs)),
        ExportFormat::Intervals => console::out_raw(&fathom_record::export::interval_csv(&runs)),
        ExportFormat::Operations => console::out_raw(&fathom_record::export::operation_csv(&runs)),
        ExportFormat::Requests => console::out_raw(&fathom_record::export::request_csv(&runs)),
        ExportFormat::Sizes => console::out_raw(&fathom_record::export::size_csv(&runs)),
        ExportFormat::Iostat => console::out_raw(&fathom_record::export::iostat_csv(&runs)),
        ExportFormat::Figures => console::out_raw(&fathom_record::export::figure_csv(&runs)),
        ExportFormat::Findings => console::out_raw(&fathom_record::export::finding_csv(&runs)),
    }
    Ok(ExitCode::SUCCESS)
}
