//! Records that no machine measures but a text may claim: every figure at the end of its range. Nothing panics over them.

#[path = "support/samples.rs"]
mod samples;

use fathom_record::Run;
use fathom_report::{html, markdown, svg, terminal};

/// The run with one figure of every repetition and worker replaced.
fn with(mut run: Run, odd: u64, which: usize) -> Run {
    for phase in &mut run.phases {
        for repetition in &mut phase.repetitions {
            for worker in &mut repetition.workers {
                let figures = [
                    &mut worker.bytes,
                    &mut worker.ops,
                    &mut worker.elapsed_ns,
                    &mut worker.uncounted_bytes,
                    &mut worker.marks.last_op_ns,
                    &mut worker.marks.fsync_ns,
                    &mut worker.marks.close_ns,
                ];
                if let Some(figure) = figures.into_iter().nth(which) {
                    *figure = odd;
                }
            }
            for row in repetition.workers.iter_mut().flat_map(|w| &mut w.rows) {
                if let Some(figure) = [&mut row.ops, &mut row.bytes].into_iter().nth(which) {
                    *figure = odd;
                }
            }
            for (_, bytes) in repetition.intervals.iter_mut().flat_map(|i| &mut i.moved) {
                *bytes = odd;
            }
            for interval in &mut repetition.intervals {
                let figures =
                    [&mut interval.end_ns, &mut interval.width_ns, &mut interval.bytes, &mut interval.ops];
                if let Some(figure) = figures.into_iter().nth(which) {
                    *figure = odd;
                }
            }
            for device in &mut repetition.physical.devices {
                let figures = [&mut device.read_bytes, &mut device.write_bytes];
                if let Some(figure) = figures.into_iter().nth(which) {
                    *figure = odd;
                }
            }
            if which == 0 {
                repetition.elapsed_ns = odd;
                repetition.physical.written_in_clock_bytes = Some(odd);
            }
        }
        let axes = &mut phase.axes;
        let figures =
            [&mut axes.file_bytes, &mut axes.record_bytes, &mut axes.streams, &mut axes.queue_depth];
        if let Some(figure) = figures.into_iter().nth(which) {
            *figure = Some(odd);
        }
    }
    run
}

#[test]
fn nothing_panics_over_odd_figures() {
    for make in [samples::throughput_run, samples::survey_run, samples::filebench_run, samples::sysbench_run]
    {
        for odd in [0, 1, u64::MAX / 2, u64::MAX] {
            for which in 0..7 {
                let run = with(make(), odd, which);
                let page = html::page(&[&run]);
                assert!(page.ends_with("</html>\n"), "{odd} as figure {which}");
                let texts = [markdown::summary(&[&run, &run]), terminal::summary(&run, 80, false)];
                assert!(texts.iter().all(|t| !t.is_empty()));
                let _ = svg::of_run(&run).len();
            }
        }
    }
}
