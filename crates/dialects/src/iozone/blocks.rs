//! Throughput-mode blocks: the output for one test and one number of streams, from the record of its phase.

use super::banner::worker_word;
use super::figures::Block;
use super::options::{IozoneOptions, RateUnit};
use super::pass::Pass;

/// Whether the number of streams is padded to two digits.
fn padded(pass: &Pass) -> bool {
    matches!(pass.name, "write" | "rewrite" | "read" | "fwrite" | "fread")
}

/// A block, starting with an empty line.
pub(super) fn block(o: &IozoneOptions, pass: &Pass, figures: &Block) -> String {
    let unit = if o.unit == RateUnit::OpsPerS { "ops" } else { "kB" };
    let n = figures.children.len();
    let count = if padded(pass) { format!("{n:>2}") } else { n.to_string() };
    let who = format!("throughput for {count} {}", pass.block);
    let (children_tabs, parent_tabs) = match pass.name {
        "read" => ("\t\t", "\t\t"),
        "fwrite" | "fread" => ("\t", "\t\t"),
        _ => ("\t", "\t"),
    };
    let worker = worker_word(o);
    let mut text = format!(
        "\n\tChildren see {who} {children_tabs}= {:>10.2} {unit}/sec\n\
         \tParent sees {who} {parent_tabs}= {:>10.2} {unit}/sec\n\
         \tMin throughput per {worker} \t\t\t= {:>10.2} {unit}/sec \n\
         \tMax throughput per {worker} \t\t\t= {:>10.2} {unit}/sec\n\
         \tAvg throughput per {worker} \t\t\t= {:>10.2} {unit}/sec\n\
         \tMin xfer \t\t\t\t\t= {:>10.2} {unit}\n",
        figures.rate(),
        figures.parent_rate,
        figures.least(|c| c.rate),
        figures.most(|c| c.rate),
        figures.mean_rate(),
        figures.least(|c| c.amount),
    );
    if o.cpu {
        let (wall, cpu, percent) = figures.cpu();
        let word = if pass.name == "write" { "Utilization" } else { "utilization" };
        text += &format!(
            "\tCPU {word}: Wall time {wall:8.3}    CPU time {cpu:8.3}    CPU utilization {percent:6.2} %\n\n"
        );
    }
    if o.show_children {
        for (i, child) in figures.children.iter().enumerate() {
            text += &format!(
                "\tChild[{i}] xfer count = {:>10.2} {unit}, Throughput = {:>10.2} {unit}/sec",
                child.amount, child.rate
            );
            if o.cpu {
                let percent = child.cpu_percent();
                text += &format!(", wall={:6.3}, cpu={:6.3}, %={percent:6.2}", child.wall_s, child.cpu_s);
            }
            text.push('\n');
        }
    }
    text
}
