//! Parses /proc/self/mountinfo and finds the mount that a path belongs to.

use crate::files::MountKey;
use std::path::Path;

/// A mounted file system as the kernel shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Mount {
    /// The kernel's id of this mount.
    pub id: u64,
    /// Device number of the file system; major 0 where it is anonymous.
    pub device: (u32, u32),
    /// The directory of the file system that is mounted ("/" unless it is a bind mount or a subvolume).
    pub root: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Type: "ext4", "btrfs", "overlay".
    pub kind: String,
    /// The mounted source: a device, a server's directory, or an arbitrary word.
    pub source: String,
    /// Options of the mount and of the file system, each once, in the kernel's order.
    pub options: Vec<String>,
}

impl Mount {
    /// The value of an option `name=value`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|o| o.strip_prefix(name)?.strip_prefix('='))
    }

    /// The mount point as the kernel's mount tables show it, with white space and backslashes as octal escapes.
    pub(crate) fn escaped_mount_point(&self) -> String {
        let code = |c: char| match c {
            ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", c as u32),
            c => c.to_string(),
        };
        self.mount_point.chars().map(code).collect()
    }

    /// Whether there is an option of this name, with or without a value.
    #[must_use]
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|o| o.split('=').next() == Some(name))
    }
}

/// The directories of an overlay, upper one first. Kernels since 6.8 may show each lower one as a separate option (`lowerdir+`,
/// `datadir+`).
#[must_use]
pub(crate) fn layers(mount: &Mount) -> Vec<String> {
    let upper = mount.option("upperdir").map(String::from);
    let together = mount.option("lowerdir").map(split_layers).unwrap_or_default();
    let single = mount.options.iter().filter_map(|o| {
        let value = o.strip_prefix("lowerdir+=").or_else(|| o.strip_prefix("datadir+="))?;
        Some(value.to_string())
    });
    upper.into_iter().chain(together).chain(single).collect()
}

/// The layers of a `lowerdir` option, separated by colons; a colon in a name is escaped with a backslash.
fn split_layers(text: &str) -> Vec<String> {
    let mut layers = vec![String::new()];
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let last = layers.len() - 1;
        match c {
            '\\' => layers[last].extend(characters.next()),
            // "::" separates the data-only layers of newer kernels.
            ':' if layers[last].is_empty() => {}
            ':' => layers.push(String::new()),
            c => layers[last].push(c),
        }
    }
    layers.retain(|l| !l.is_empty());
    layers
}

/// All mounts of a mountinfo text; unparsable lines are skipped.
#[must_use]
pub fn parse(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Mount> {
    // The optional fields end at the first lone dash; a dash inside a name is part of a longer word.
    let (head, tail) = text.split_once(" - ")?;
    let head: Vec<&str> = head.split(' ').collect();
    let tail: Vec<&str> = tail.split(' ').collect();
    let [id, _parent, number, root, mount_point, mount_options, ..] = head[..] else { return None };
    let (major, minor) = number.split_once(':')?;
    let mut options: Vec<String> = Vec::new();
    for option in mount_options.split(',').chain(tail.get(2).unwrap_or(&"").split(',')) {
        let option = unescape(option);
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        id: id.parse().ok()?,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: unescape(root),
        mount_point: unescape(mount_point),
        kind: (*tail.first()?).to_string(),
        source: unescape(tail.get(1)?),
        options,
    })
}

/// The kernel writes space, tab, line feed and backslash as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let raw = text.as_bytes();
    let mut at = 0;
    while at < raw.len() {
        let code = (raw[at] == b'\\')
            .then(|| raw.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                at += 4;
            }
            None => {
                bytes.push(raw[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount of a path. By mount id if known, because bind mounts and mounts over mounts make the longest path wrong; otherwise by device
/// number and longest path, the last of equals.
#[must_use]
pub fn find<'a>(mounts: &'a [Mount], key: &MountKey, path: &Path) -> Option<&'a Mount> {
    if let Some(id) = key.mount_id {
        return mounts.iter().find(|m| m.id == id);
    }
    let above = |m: &&Mount| path.starts_with(&m.mount_point);
    let same = mounts.iter().filter(above).filter(|m| m.device == key.device);
    // A btrfs subvolume has its own device number, which no line shows: then the path alone decides.
    same.max_by_key(|m| m.mount_point.len())
        .or_else(|| mounts.iter().filter(above).max_by_key(|m| m.mount_point.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 27 8:1 / /mnt/a\\040disk rw,noatime shared:5 master:1 - xfs /dev/sda1 rw,noatime,logdev=/dev/sdb1
31 27 254:0 /srv/data /data ro - ext4 /dev/vda rw,discard
32 27 0:50 / /mnt rw - nfs4 server:/export\\134x rw,vers=4.2
garbage
";

    #[test]
    fn lines_are_read_and_names_unescaped() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[1].mount_point, "/mnt/a disk");
        assert_eq!(mounts[1].options, ["rw", "noatime", "logdev=/dev/sdb1"]);
        assert_eq!(mounts[1].option("logdev"), Some("/dev/sdb1"));
        assert!(mounts[0].has_option("discard") && !mounts[0].has_option("disc"));
        assert_eq!(mounts[2].root, "/srv/data");
        assert_eq!(mounts[3].source, "server:/export\\x");
    }

    #[test]
    fn the_id_decides_and_without_it_number_and_path() {
        let mounts = parse(TEXT);
        let by_id = MountKey { mount_id: Some(31), device: (254, 0) };
        assert_eq!(find(&mounts, &by_id, Path::new("/data/x")).map(|m| m.id), Some(31));
        let by_number = MountKey { mount_id: None, device: (8, 1) };
        assert_eq!(find(&mounts, &by_number, Path::new("/mnt/a disk/x")).map(|m| m.id), Some(30));
        let subvolume = MountKey { mount_id: None, device: (0, 99) };
        assert_eq!(find(&mounts, &subvolume, Path::new("/mnt/x")).map(|m| m.id), Some(32));
        let unknown = MountKey { mount_id: Some(77), device: (8, 1) };
        assert_eq!(find(&mounts, &unknown, Path::new("/")), None);
    }

    #[test]
    fn layers_of_an_overlay_are_told_in_either_way() {
        let of = |options: &str| {
            let text = format!("60 1 0:60 / /m rw - overlay overlay rw,{options}\n");
            layers(&parse(&text)[0])
        };
        assert_eq!(of("lowerdir=/a:/b\\134:c,upperdir=/up,workdir=/w"), ["/up", "/a", "/b:c"]);
        assert_eq!(of("lowerdir+=/a,lowerdir+=/b,datadir+=/d"), ["/a", "/b", "/d"]);
    }

    #[test]
    fn odd_escapes_stay_as_they_are() {
        assert_eq!(unescape("a\\04"), "a\\04");
        assert_eq!(unescape("a\\999b"), "a\\999b");
        assert_eq!(unescape("\\303\\244"), "ä");
    }

    /// Escapes a name like the kernel.
    fn escape(name: &str) -> String {
        let code = |c: char| match c {
            ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", c as u32),
            c => c.to_string(),
        };
        name.chars().map(code).collect()
    }

    proptest::proptest! {
        #[test]
        fn any_mount_point_comes_back(name in "/[^\\x00\r]{0,30}") {
            let text = format!("5 1 8:1 / {} rw - ext4 /dev/sda1 rw\n", escape(&name));
            proptest::prop_assert_eq!(&parse(&text)[0].mount_point, &name);
        }

        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,200}") {
            let _ = parse(&text);
        }
    }
}
