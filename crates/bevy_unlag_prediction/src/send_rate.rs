//! How often a client sends its moves.

use bevy::prelude::*;

/// How often a client sends its moves. Every tick is a move whatever the rate: what waits is sent
/// with the next packet. A move in which something relevant changes (see
/// [`MoveModel::combines`](bevy_unlag_core::MoveModel::combines)) never waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SendRate {
    /// Ticks between two packets. Default 1. Raising it saves packets and adds as many ticks of
    /// delay before others see a turn. Unreal's `ClientNetSendMoveDeltaTime`.
    pub interval: u32,
    /// The same when the server is crowded or the link narrow. Default 2. Unreal's
    /// `ClientNetSendMoveDeltaTimeThrottled`.
    pub throttled: u32,
    /// The same while the player wants nothing. Default 1. Raising it saves packets of players who
    /// stand; who then begins to walk is seen to stutter, because moves that wait teach the server to
    /// hold all of them back. Unreal's `ClientNetSendMoveDeltaTimeStationary`.
    pub stationary: u32,
    /// With more players than this the server is crowded. Default 64; Unreal's
    /// `ClientNetSendMoveThrottleOverPlayerCount` is 10.
    pub throttle_over_players: u32,
    /// With fewer bytes a second than this a link is narrow. Default 6,000; Unreal's
    /// `ClientNetSendMoveThrottleAtNetSpeed` is 10,000.
    pub throttle_below: u32,
}

impl Default for SendRate {
    fn default() -> Self {
        Self { interval: 1, throttled: 2, stationary: 1, throttle_over_players: 64, throttle_below: 6_000 }
    }
}

impl SendRate {
    /// Unreal's rates in ticks of 64 Hz: 60 Hz, 45 Hz over ten players or under 10,000 bytes a
    /// second.
    pub const UNREAL: Self =
        Self { interval: 1, throttled: 2, stationary: 1, throttle_over_players: 10, throttle_below: 10_000 };

    /// Ticks from one packet to the next.
    #[must_use]
    pub fn ticks(&self, crowd: &Crowd, stationary: bool) -> u32 {
        let narrow = crowd.bytes_per_second.is_some_and(|rate| rate < self.throttle_below);
        let throttled = narrow || crowd.players > self.throttle_over_players;
        let usual = if throttled { self.throttled } else { self.interval };
        if stationary { usual.max(self.stationary) } else { usual }.clamp(1, 16)
    }
}

/// What throttles sending, as far as this client knows. The network's glue keeps it up to date.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Crowd {
    /// Pawns that this client knows of.
    pub players: u32,
    /// What the link can carry upwards; `None` when nobody knows.
    pub bytes_per_second: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_and_a_narrow_link_throttle() {
        let rate = SendRate::UNREAL;
        let crowd = |players, bytes_per_second| Crowd { players, bytes_per_second };
        assert_eq!(rate.ticks(&crowd(10, None), false), 1);
        assert_eq!(rate.ticks(&crowd(11, None), false), 2);
        assert_eq!(rate.ticks(&crowd(2, Some(9_999)), false), 2);
        assert_eq!(SendRate { stationary: 3, ..rate }.ticks(&crowd(2, None), true), 3);
        assert_eq!(SendRate { interval: 0, ..rate }.ticks(&crowd(2, None), false), 1, "never nothing");
    }
}
