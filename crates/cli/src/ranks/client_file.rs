//! IOzone's `-+m FILE`: one line per client, with its host, working directory and program path. Ranks are the clients,
//! in line order: a launcher has already started them, so hosts are checked and programs ignored.

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Client {
    pub host: String,
    pub directory: PathBuf,
}

/// Removes `-+m FILE` from IOzone's arguments, and makes every rank run one of the `-t N` processes. Returns the
/// clients; empty without the option.
///
/// # Errors
///
/// The file or its options are wrong.
pub(super) fn take(args: &mut Vec<String>, ranks: u32) -> Result<Vec<Client>, String> {
    let Some(at) = args.iter().position(|a| a == "-+m") else { return Ok(Vec::new()) };
    let Some(file) = args.get(at + 1).cloned() else {
        return Err("iozone: -+m needs the name of a file".into());
    };
    args.drain(at..at + 2);
    let text = crate::input::read_to_string(&file).map_err(|e| format!("iozone: -+m {file}: {e}"))?;
    let clients = read(&text).map_err(|why| format!("iozone: -+m {file}: {why}"))?;
    if clients.len() < ranks as usize {
        return Err(format!("iozone: -+m {file} has {} clients for {ranks} ranks", clients.len()));
    }
    let number = args.iter().position(|a| a == "-t").map(|at| at + 1);
    let joined = args.iter().position(|a| a.strip_prefix("-t").is_some_and(|n| n.parse::<u32>().is_ok()));
    let asked = match (number, joined) {
        (Some(at), _) => args.get_mut(at).map(|word| std::mem::replace(word, "1".into())),
        (None, Some(at)) => Some(std::mem::replace(&mut args[at], "-t1".into()).split_off(2)),
        (None, None) => {
            return Err("iozone: -+m belongs to -t N, with as many processes as there are ranks".into());
        }
    };
    if asked.as_deref() != Some(ranks.to_string().as_str()) {
        return Err(format!(
            "iozone: -t {} does not match {ranks} ranks: with -+m every rank is one process",
            asked.unwrap_or_default()
        ));
    }
    Ok(clients)
}

/// The lines of the file; those that start with a blank or # are comments.
fn read(text: &str) -> Result<Vec<Client>, String> {
    let mut clients = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        if line.is_empty() || line.starts_with([' ', '\t', '#']) {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let (Some(host), Some(directory), Some(_program)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("line {number}: expected a host, a directory and the path of the program"));
        };
        clients.push(Client { host: host.into(), directory: directory.into() });
    }
    Ok(clients)
}

/// Whether a rank on `host` matches a client.
pub(super) fn is_on(client: &Client, host: &str) -> bool {
    client.host == "localhost" || same_host(&client.host, host)
}

/// Whether two names are of one host; a name may be short or full.
pub(super) fn same_host(a: &str, b: &str) -> bool {
    let (short_a, rest_a) = a.split_once('.').unwrap_or((a, ""));
    let (short_b, rest_b) = b.split_once('.').unwrap_or((b, ""));
    a == b || (short_a == short_b && (rest_a.is_empty() || rest_b.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_clients_and_every_rank_is_one_process() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(
            file.path(),
            "# two hosts\na /mnt/one /usr/bin/iozone\nb.site /mnt/two /usr/bin/iozone\n",
        )
        .unwrap();
        let name = file.path().display().to_string();
        let words = |text: &str| text.split(' ').map(|w| w.replace('F', &name)).collect::<Vec<_>>();
        let mut args = words("-+m F -t 2 -s 4m -i 0");
        let clients = take(&mut args, 2).unwrap();
        assert_eq!(args, words("-t 1 -s 4m -i 0"));
        assert_eq!(clients[1].directory, PathBuf::from("/mnt/two"));
        assert!(is_on(&clients[1], "b") && !is_on(&clients[0], "b"));
        assert!(!same_host("10.0.0.1", "10.0.0.2") && !same_host("a.one", "a.two"));
        let wrong = |text: &str, ranks| take(&mut words(text), ranks).unwrap_err();
        assert!(wrong("-+m F -t 2 -i 0", 3).contains("2 clients for 3 ranks"));
        assert!(wrong("-+m F -t 4 -i 0", 2).contains("-t 4 does not match 2 ranks"));
        assert!(wrong("-+m F -i 0", 2).contains("belongs to -t"));
        assert!(wrong("-t 2 -+m", 2).contains("needs the name"));
        assert_eq!(take(&mut words("-t 2 -i 0"), 2), Ok(Vec::new()));
        assert!(read("a /mnt\n").unwrap_err().contains("line 1"));
    }
}
