//! Defaults of options that have one.

const DEFAULTS: &[(&str, &str)] = &[
    ("rw", "read"),
    ("rw_sequencer", "sequential"),
    ("rwmixread", "50"),
    ("rwmixwrite", "50"),
    ("bs", "4096"),
    ("nrfiles", "1"),
    ("offset", "0"),
    ("offset_increment", "0"),
    ("loops", "1"),
    ("runtime", "0"),
    ("ramp_time", "0"),
    ("startdelay", "0"),
    ("exit_what", "group"),
    ("numjobs", "1"),
    ("filename_format", "$jobname.$jobnum.$filenum"),
    ("unlink", "0"),
    ("allow_file_create", "1"),
    ("create_on_open", "0"),
    ("create_only", "0"),
    ("pre_read", "0"),
    ("overwrite", "0"),
    ("file_service_type", "roundrobin"),
    ("fallocate", "native"),
    ("invalidate", "1"),
    ("fadvise_hint", "1"),
    ("disk_util", "1"),
    ("ioengine", "psync"),
    ("iodepth", "1"),
    ("iodepth_batch", "1"),
    ("serialize_overlap", "0"),
    ("io_submit_mode", "inline"),
    ("direct", "0"),
    ("buffered", "1"),
    ("sync", "none"),
    ("fsync", "0"),
    ("fdatasync", "0"),
    ("end_fsync", "0"),
    ("fsync_on_close", "0"),
    ("grace_time", "1"),
    ("spr_num_regions", "100"),
    ("spr_op", "0.15"),
    ("spr_cs", "0"),
    ("zonemode", "none"),
    ("random_generator", "tausworthe"),
    ("random_distribution", "random"),
    ("randrepeat", "1"),
    ("randseed", "0x89"),
    ("rate_cycle", "1000"),
    ("rate_process", "linear"),
    ("thinktime", "0"),
    ("thinktime_spin", "0"),
    ("thinktime_blocks", "1"),
    ("latency_percentile", "100"),
    ("continue_on_error", "none"),
    ("verify", "0"),
    ("do_verify", "1"),
    ("verify_dump", "0"),
    ("nice", "0"),
    ("stats", "1"),
    ("per_job_logs", "1"),
    ("gtod_reduce", "0"),
    ("clat_percentiles", "1"),
    ("lat_percentiles", "0"),
    ("slat_percentiles", "0"),
    ("percentile_list", "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"),
    ("significant_figures", "4"),
    ("unified_rw_reporting", "none"),
    ("kb_base", "1024"),
    ("log_avg_msec", "0"),
    ("log_hist_msec", "0"),
    ("log_hist_coarseness", "0"),
];

/// The value used if an option is not given; `None` if it has no default.
#[must_use]
pub fn default_of(name: &str) -> Option<&'static str> {
    DEFAULTS.iter().find(|default| default.0 == name).map(|default| default.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_of_their_options() {
        for (name, value) in DEFAULTS {
            let row = super::super::find(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(row.kind.check(Some(value), 1024), Ok(()), "{name}");
            assert!(row.state.lets_pass(Some(value)), "{name}");
        }
        assert_eq!(default_of("bs"), Some("4096"));
        assert_eq!(default_of("filename"), None);
    }
}
