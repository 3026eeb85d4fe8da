//! Datagrams that the operating system has dropped because a receive buffer was full.

use std::{
    collections::HashSet,
    fs::{self, DirEntry},
    sync::atomic::{AtomicU64, Ordering},
};

/// Tables of the UDP sockets of the system. Without IPv6 the second one is missing.
const TABLES: [&str; 2] = ["/proc/self/net/udp", "/proc/self/net/udp6"];

/// Returns the number of datagrams that the system has dropped because the receive buffer of a UDP socket of this
/// process was full, or their checksum was wrong, since that socket was opened. It never decreases: a socket that is
/// closed takes its number with it, and the largest sum so far stands. `None` where the operating system does not say
/// it, which is everywhere but on Linux.
pub(super) fn kernel_drops() -> Option<u64> {
    static MOST: AtomicU64 = AtomicU64::new(0);
    let own = own_sockets()?;
    let tables = TABLES.iter().filter_map(|table| fs::read_to_string(table).ok());
    let drops = tables.map(|table| drops_in(&table, &own)).reduce(u64::saturating_add)?;
    Some(MOST.fetch_max(drops, Ordering::Relaxed).max(drops))
}

/// Returns the inodes of this process's sockets.
fn own_sockets() -> Option<HashSet<u64>> {
    let inode = |file: DirEntry| inode_of(fs::read_link(file.path()).ok()?.to_str()?);
    let files = fs::read_dir("/proc/self/fd").ok()?;
    Some(files.filter_map(|file| inode(file.ok()?)).collect())
}

/// Returns the inode in the name of an open socket, such as `socket:[16384]`.
fn inode_of(name: &str) -> Option<u64> {
    name.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns the sum of the drops of these sockets in a table. Lines of another form do not count.
fn drops_in(table: &str, own: &HashSet<u64>) -> u64 {
    let drops_of = |line: &str| {
        // In front of the inode: the line's number, two addresses, state, queues, timer, timeouts, user, timeout.
        let mut columns = line.split_whitespace().skip(9);
        let inode: u64 = columns.next()?.parse().ok()?;
        // Between the two: number of references, pointer.
        let drops: u64 = columns.nth(2)?.parse().ok()?;
        own.contains(&inode).then_some(drops)
    };
    table.lines().filter_map(drops_of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    const HEAD: &str = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout \
         inode ref pointer drops\n";

    fn line(inode: &str, drops: &str) -> String {
        format!(
            " 8822: 0100007F:B95F 00000000:0000 07 00000000:00033C00 00:00000000 00000000     0        0 {inode} 2 \
             00000000592539b0 {drops}      \n"
        )
    }

    #[test]
    fn drops_of_own_sockets_are_added_and_those_of_others_are_not() {
        let table = [HEAD, &line("16384", "421"), &line("16385", "7"), &line("16386", "1000")].concat();
        assert_eq!(drops_in(&table, &HashSet::from([16_384, 16_385])), 428);
        assert_eq!(drops_in(&table, &HashSet::new()), 0);
        assert_eq!((inode_of("socket:[16384]"), inode_of("pipe:[16384]")), (Some(16_384), None));
    }

    #[test]
    fn table_of_another_form_has_no_drops() {
        let own = HashSet::from([16_384]);
        for drops in ["", "-1", "many", "18446744073709551616"] {
            assert_eq!(drops_in(&line("16384", drops), &own), 0, "{drops}");
        }
        assert_eq!(drops_in("\0\n \n16384 421\n", &own), 0);
        let most = u64::MAX.to_string();
        assert_eq!(drops_in(&line("16384", &most).repeat(2), &own), u64::MAX);
    }

    #[test]
    fn datagrams_for_a_full_socket_of_this_process_are_counted() {
        let before = kernel_drops();
        assert_eq!(before.is_some(), cfg!(target_os = "linux"));
        let Some(before) = before else { return };
        let (full, sender) = (
            UdpSocket::bind(("127.0.0.1", 0)).expect("a port"),
            UdpSocket::bind(("127.0.0.1", 0)).expect("a port"),
        );
        let address = full.local_addr().expect("an address");
        // Linux grants room for some hundred of them by default.
        let mut dropped = 0;
        for sent in 1..100_000_u64 {
            sender.send_to(&[7; 1_000], address).expect("it is sent");
            if sent.is_multiple_of(1_000) {
                dropped = kernel_drops().expect("the tables are there").saturating_sub(before);
            }
            if dropped > 0 {
                assert!(dropped < sent, "{dropped} of {sent} datagrams");
                break;
            }
        }
        assert!(dropped > 0);
    }
}
