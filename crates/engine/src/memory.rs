//! How much memory this process uses.

/// Bytes resident at the moment; 0 where the system does not tell.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status");
    status.ok().and_then(|status| resident_in(&status)).unwrap_or(0)
}

/// The figure in the text of `/proc/self/status`, where it is given in KiB. The one in `/proc/self/statm` is in pages, whose size
/// differs between machines.
fn resident_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_does_not_depend_on_the_size_of_pages() {
        // Of a machine with pages of 64 KiB: 80 of them.
        let status = "Name:\traddle\nVmHWM:\t    9216 kB\nVmRSS:\t    5120 kB\nRssAnon:\t    1024 kB\n";
        assert_eq!(resident_in(status), Some(5 << 20));
        for odd in ["", "VmRSS:", "VmRSS:\t5120 MB", "VmRSS:\t-1 kB", "VmRSS:\t99999999999999999999 kB"] {
            assert_eq!(resident_in(odd), None, "{odd}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_used_counts() {
        let before = resident();
        let block = vec![1u8; 64 << 20];
        let grown = resident() - before;
        assert!(before > 100_000 && grown > 48 << 20, "{before} bytes, then {grown} more with {}", block.len());
    }
}
