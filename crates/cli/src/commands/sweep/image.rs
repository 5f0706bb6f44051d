//! Location and size of the loop device's image for `fs=...`.

use super::parsed;
use super::vary::Varied;
use crate::exit::Usage;
use fathom_workload::Bytes;
use std::path::{Path, PathBuf};

/// Current file systems cannot be smaller.
const LEAST_BYTES: u64 = 16 << 20;
const DEFAULT: &str = "2GiB";

/// Directory and bytes. Neither may be given unless a loop device is requested.
pub fn read(
    varied: &[Varied],
    directory: Option<&Path>,
    size: Option<&str>,
) -> Result<(PathBuf, u64), Usage> {
    if !varied.iter().any(Varied::is_of_disk) {
        for (option, given) in [("--image-in", directory.is_some()), ("--image-size", size.is_some())] {
            if given {
                return Err(Usage(format!("{option} needs a loop device, which only fs=... makes")));
            }
        }
    }
    let size = size.unwrap_or(DEFAULT);
    let bytes = parsed::<Bytes>("--image-size", size)?.0;
    if bytes < LEAST_BYTES {
        return Err(Usage(format!("--image-size {size}: at least 16MiB is expected")));
    }
    Ok((directory.unwrap_or(Path::new(".")).to_path_buf(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::sweep::vary::Target;

    #[test]
    fn an_image_is_only_spoken_of_where_one_is_made() {
        let fs = Varied { name: "fs".into(), values: vec!["ext4".into()], target: Target::FileSystem };
        let made = |size| read(std::slice::from_ref(&fs), None, size);
        assert_eq!(made(None).unwrap_or_else(|e| panic!("{e}")), (PathBuf::from("."), 2 << 30));
        assert!(made(Some("1MiB")).is_err_and(|e| e.0.contains("at least 16MiB")));
        assert!(read(&[], None, Some("1GiB")).is_err_and(|e| e.0.starts_with("--image-size needs")));
        assert!(read(&[], Some(Path::new("/d")), None).is_err_and(|e| e.0.starts_with("--image-in needs")));
    }
}
