//! Send rate of the client's moves.

use bevy::prelude::*;

/// Send rate of the client's moves. Every tick has a move at any rate: waiting moves are sent in the next
/// packet. A move with a relevant change (see
/// [`MoveModel::can_combine_with`](bevy_unlag_core::MoveModel::can_combine_with)) never waits.
///
/// It counts ticks and not seconds, because it is the number of new moves in a packet.
#[doc(alias = "cl_cmdrate")]
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct SendRate {
    /// Ticks between two packets. Default 1. A larger value saves packets and delays the pawn on other
    /// screens by as many ticks. Unreal's `ClientNetSendMoveDeltaTime`.
    #[doc(alias = "ClientNetSendMoveDeltaTime")]
    pub interval: u32,
    /// Ticks between two packets if the server has many players or the link is slow. Default 2. Unreal's
    /// `ClientNetSendMoveDeltaTimeThrottled`.
    #[doc(alias = "ClientNetSendMoveDeltaTimeThrottled")]
    pub throttled: u32,
    /// Ticks between two packets while the input is neutral. Default 1. A larger value saves packets of
    /// standing players, but a player who starts to walk stutters on other screens, because waiting moves
    /// make the server buffer all moves longer. Unreal's `ClientNetSendMoveDeltaTimeStationary`.
    #[doc(alias = "ClientNetSendMoveDeltaTimeStationary")]
    pub stationary: u32,
    /// Number of players above which sending is throttled. Default 64; Unreal's
    /// `ClientNetSendMoveThrottleOverPlayerCount` is 10.
    #[doc(alias = "ClientNetSendMoveThrottleOverPlayerCount")]
    pub throttle_over_players: u32,
    /// Link capacity in bytes per second below which sending is throttled. Default 6,000; Unreal's
    /// `ClientNetSendMoveThrottleAtNetSpeed` is 10,000.
    #[doc(alias = "ClientNetSendMoveThrottleAtNetSpeed")]
    pub throttle_below: u32,
}

impl Default for SendRate {
    fn default() -> Self {
        Self { interval: 1, throttled: 2, stationary: 1, throttle_over_players: 64, throttle_below: 6_000 }
    }
}

impl SendRate {
    /// Unreal's rates in ticks of 64 Hz: 60 Hz, or 45 Hz with more than ten players or below 10,000 bytes
    /// per second.
    pub const UNREAL: Self =
        Self { interval: 1, throttled: 2, stationary: 1, throttle_over_players: 10, throttle_below: 10_000 };

    /// Returns the number of ticks from one packet to the next, 1 to 16.
    #[must_use]
    pub fn ticks(&self, throttle: &SendThrottle, stationary: bool) -> u32 {
        let narrow = throttle.bytes_per_second.is_some_and(|rate| rate < self.throttle_below);
        let throttled = narrow || throttle.players > self.throttle_over_players;
        let usual = if throttled { self.throttled } else { self.interval };
        if stationary { usual.max(self.stationary) } else { usual }.clamp(1, 16)
    }
}

/// Number of players and link capacity, by which sending is throttled. `bevy_unlag_lightyear` updates the
/// number of players; the game may set the capacity.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct SendThrottle {
    /// Number of pawns that this client knows.
    pub players: u32,
    /// Uplink capacity in bytes per second; `None` if unknown.
    pub bytes_per_second: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_players_or_a_slow_link_throttle_sending() {
        let rate = SendRate::UNREAL;
        let throttle = |players, bytes_per_second| SendThrottle { players, bytes_per_second };
        assert_eq!(rate.ticks(&throttle(10, None), false), 1);
        assert_eq!(rate.ticks(&throttle(11, None), false), 2);
        assert_eq!(rate.ticks(&throttle(2, Some(9_999)), false), 2);
        assert_eq!(SendRate { stationary: 3, ..rate }.ticks(&throttle(2, None), true), 3);
        assert_eq!(SendRate { interval: 0, ..rate }.ticks(&throttle(2, None), false), 1, "0 counts as 1");
    }
}
