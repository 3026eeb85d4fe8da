//! Junk at the server's port: dropped before netcode sees it, forgotten when it never becomes a
//! connection.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::{
    connection::ConnectionSystems,
    link::{Link, LinkSystems},
    prelude::{Connected, LinkOf},
};

/// How long an address may stay without a connection. netcode's own handshake takes two round
/// trips.
const PENDING_TIME: Duration = Duration::from_secs(5);

pub(crate) fn plugin(app: &mut App) {
    app.add_systems(
        PreUpdate,
        (drop_junk.after(LinkSystems::Receive).before(ConnectionSystems::Receive), forget_strangers),
    );
}

/// netcode 0.30 panics on some first bytes that no client writes, so they never get there.
fn drop_junk(mut links: Query<&mut Link, With<LinkOf>>) {
    for mut link in &mut links {
        for _ in 0..link.recv.len() {
            let Some(payload) = link.recv.pop() else { break };
            if is_netcode(&payload) {
                link.recv.push_raw(payload);
            }
        }
    }
}

/// Whether bytes have the form of a datagram that a netcode client sends: a connection request of
/// its one fixed length, or an encrypted packet with a sane prefix.
#[must_use]
fn is_netcode(bytes: &[u8]) -> bool {
    /// A connection request, the only packet that is not encrypted.
    const REQUEST: usize = 1_078;
    /// Prefix, at least one sequence byte, the authentication tag.
    const SHORTEST: usize = 18;
    let Some(&prefix) = bytes.first() else { return false };
    if prefix == 0 {
        return bytes.len() == REQUEST;
    }
    let (kind, sequence_bytes) = (prefix & 15, usize::from(prefix >> 4));
    (3..=6).contains(&kind)
        && (1..=8).contains(&sequence_bytes)
        && bytes.len() >= SHORTEST + sequence_bytes - 1
}

fn forget_strangers(
    time: Res<Time<Real>>,
    mut links: Query<(Entity, Option<&mut Stranger>), (With<LinkOf>, Without<Connected>)>,
    mut commands: Commands,
) {
    for (entity, stranger) in &mut links {
        match stranger {
            Some(mut stranger) => {
                stranger.0 += time.delta();
                if stranger.0 > PENDING_TIME {
                    commands.entity(entity).try_despawn();
                }
            }
            None => {
                commands.entity(entity).try_insert(Stranger(Duration::ZERO));
            }
        }
    }
}

/// How long a link has been without a connection.
#[derive(Component)]
struct Stranger(Duration);

#[cfg(test)]
mod tests {
    use super::is_netcode;

    #[test]
    fn only_the_forms_that_a_client_sends_pass() {
        assert!(is_netcode(&[0; 1_078]));
        assert!(!is_netcode(&[0; 1_077]));
        let packet = |prefix: u8| [&[prefix][..], &[7; 40]].concat();
        assert!(is_netcode(&packet(0x15)), "a payload with one sequence byte");
        assert!(!is_netcode(&packet(0x95)), "nine sequence bytes panic netcode 0.30");
        assert!(!is_netcode(&packet(0x05)), "no sequence byte");
        assert!(!is_netcode(&packet(0x12)), "a challenge comes from servers only");
        assert!(!is_netcode(&[]));
    }
}
