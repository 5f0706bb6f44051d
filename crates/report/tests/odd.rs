//! Records that no machine produces but a text may claim: every figure at the end of its range must not cause a panic.

use crate::samples;
use fathom_record::Run;
use fathom_report::{html, markdown, svg, terminal, text};

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

/// The run with one figure of every block-layer part replaced.
fn with_block(mut run: Run, odd: u64, which: usize) -> Run {
    for repetition in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        repetition.n = odd as u32;
        for sample in repetition.course.iter_mut().flat_map(|c| &mut c.samples) {
            sample.at_ns = odd;
            sample.dirty_bytes = odd;
        }
        let Some(layer) = &mut repetition.block else { continue };
        if which == 0 {
            (layer.lost, layer.events, layer.watched_ns) = (odd, odd, odd);
        }
        for device in &mut layer.devices {
            device.busy_ns = odd;
            for time in device.in_device.iter_mut().chain(&mut device.in_queue) {
                match which {
                    1 => time.depth = odd as u32,
                    _ => time.ns = odd,
                }
            }
            for stats in &mut device.requests {
                let seeks = &mut stats.seeks;
                let figures = [
                    &mut stats.issued,
                    &mut stats.issued_bytes,
                    &mut stats.ahead,
                    &mut seeks.sequential,
                    &mut seeks.forward,
                ];
                if let Some(figure) = figures.into_iter().nth(which) {
                    *figure = odd;
                }
                seeks.distances.iter_mut().for_each(|d| *d = (odd as u32, odd));
                stats.sizes.iter_mut().for_each(|s| {
                    *(if which == 2 { &mut s.count } else { &mut s.bytes }) = odd;
                });
            }
        }
        for interval in &mut layer.intervals {
            let figures =
                [&mut interval.end_ns, &mut interval.width_ns, &mut interval.reads, &mut interval.write_ns];
            if let Some(figure) = figures.into_iter().nth(which) {
                *figure = odd;
            }
            interval.device = odd as u32;
        }
    }
    run
}

#[test]
fn nothing_panics_over_odd_requests() {
    for odd in [0, 1, u64::MAX / 2, u64::MAX] {
        for which in 0..5 {
            let run = with_block(samples::observed_run(), odd, which);
            assert!(html::page(&[&run]).ends_with("</html>\n"), "{odd} as figure {which}");
            let texts =
                [markdown::summary(&[&run]), terminal::summary(&run, 80, false), text::run::long(&run, 80)];
            assert!(texts.iter().all(|t| !t.is_empty()));
            let drawn: Vec<String> = svg::of_run(&run).iter().map(svg::Picture::standalone).collect();
            assert!(
                drawn.iter().all(|s| !s.contains("NaN") && !s.contains("inf\"")),
                "{odd} as figure {which}"
            );
        }
    }
}
