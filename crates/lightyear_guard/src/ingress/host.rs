//! Host of an address, the unit of limits on clients and newcomers.

use core::net::{IpAddr, SocketAddr};

/// Returns the host of an address: one customer usually has a whole IPv6 /64 network.
pub(crate) fn host(address: SocketAddr) -> IpAddr {
    match address.ip() {
        IpAddr::V6(ip) => IpAddr::from((u128::from(ip) >> 64 << 64).to_be_bytes()),
        ip @ IpAddr::V4(_) => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_64_network_are_one_host() {
        let host = |text: &str| host(text.parse().expect("an address"));
        assert_eq!(host("[2001:db8:1:2:3::4]:1"), host("[2001:db8:1:2:ffff::9]:2"));
        assert_ne!(host("[2001:db8:1:2::4]:1"), host("[2001:db8:1:3::4]:1"));
        assert_eq!(host("10.0.0.1:1"), host("10.0.0.1:2"));
        assert_ne!(host("10.0.0.1:1"), host("10.0.0.2:1"));
    }
}
