//! Names of NVMe namespaces: a block device (/dev/nvme0n1) and a character device that takes commands (/dev/ng0n1).

use std::path::{Path, PathBuf};

/// The block device of a character device: /dev/nvme0n1 for /dev/ng0n1; `None` for other paths.
#[must_use]
pub fn block_device_of(generic: &Path) -> Option<PathBuf> {
    let numbers = generic.strip_prefix("/dev").ok()?.to_str()?.strip_prefix("ng")?;
    are_numbers(numbers).then(|| PathBuf::from(format!("/dev/nvme{numbers}")))
}

/// The name of a block device's character device: ng0n1 for nvme0n1; `None` for other names, as of partitions and controllers.
#[must_use]
pub fn generic_name_of(block: &str) -> Option<String> {
    let numbers = block.strip_prefix("nvme")?;
    are_numbers(numbers).then(|| format!("ng{numbers}"))
}

/// "0n1": the numbers of a controller and of its namespace.
fn are_numbers(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.split_once('n').is_some_and(|(controller, namespace)| digits(controller) && digits(namespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_namespaces_and_their_character_devices() {
        for numbers in ["0n1", "12n34"] {
            assert_eq!(generic_name_of(&format!("nvme{numbers}")), Some(format!("ng{numbers}")));
            let generic = format!("/dev/ng{numbers}");
            assert_eq!(block_device_of(Path::new(&generic)), Some(format!("/dev/nvme{numbers}").into()));
        }
        for other in ["nvme0", "nvme0n1p1", "nvme0c0n1", "sda", "nvmen1", "nvme0n"] {
            assert_eq!(generic_name_of(other), None, "{other}");
        }
        for other in ["/dev/nvme0n1", "/dev/ngx", "ng0n1", "/tmp/ng0n1", "/dev/ng0n1p1"] {
            assert_eq!(block_device_of(Path::new(other)), None, "{other}");
        }
    }
}
