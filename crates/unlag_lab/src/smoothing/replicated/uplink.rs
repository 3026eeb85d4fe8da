//! Uplink jitter of a home Wi-Fi.

use bevy::ecs::schedule::IntoScheduleConfigs;
use bevy_unlag::net::{NetSim, NetSystems};

use crate::prelude::*;

/// Extra latency of packets in milliseconds, one value per 64th of a second.
///
/// Synthetic data shaped like a recording: nine packets in ten take up to 5 ms longer. Every second or two
/// the channel is busy: one to four times in a row the radio waits for 30 to 80 ms. Packets sent meanwhile
/// leave together with the waiting ones, so no packet overtakes another.
const EXTRA_MILLISECONDS: [u8; 1024] = [
    3, 2, 2, 3, 0, 1, 3, 3, 1, 0, 1, 5, 0, 0, 4, 1, 0, 0, 3, 1, 78, 63, 48, 33, 18, 3, 0, 0, 0, 2, 0, 2, 0,
    0, 0, 2, 3, 0, 0, 42, 27, 12, 0, 1, 1, 1, 0, 1, 1, 1, 0, 3, 3, 2, 5, 1, 1, 0, 1, 1, 1, 5, 2, 0, 3, 0, 1,
    0, 2, 4, 1, 2, 0, 1, 0, 1, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
    3, 1, 1, 0, 0, 1, 1, 2, 3, 0, 1, 0, 1, 0, 0, 3, 1, 5, 61, 47, 32, 17, 2, 0, 3, 2, 38, 23, 8, 4, 2, 0, 0,
    2, 67, 52, 37, 22, 8, 1, 1, 1, 55, 40, 26, 11, 3, 1, 3, 1, 0, 2, 3, 0, 3, 0, 2, 0, 5, 1, 0, 0, 0, 0, 2,
    0, 0, 0, 0, 2, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 2, 0, 1, 2, 0, 2, 0, 1, 1, 0, 1, 2, 59, 44, 30, 15, 1, 1, 1,
    2, 1, 1, 2, 2, 1, 1, 1, 0, 1, 0, 1, 0, 3, 0, 3, 1, 3, 3, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 1, 75, 60, 46,
    31, 16, 2, 1, 38, 23, 8, 2, 2, 1, 0, 0, 39, 25, 10, 0, 2, 2, 1, 0, 0, 3, 3, 2, 3, 0, 0, 1, 1, 1, 0, 2, 0,
    1, 2, 0, 1, 1, 0, 67, 53, 38, 23, 71, 56, 41, 26, 11, 1, 0, 0, 67, 53, 38, 23, 8, 1, 2, 2, 0, 2, 1, 1, 0,
    4, 4, 0, 1, 1, 1, 1, 0, 2, 1, 1, 1, 0, 3, 2, 0, 0, 1, 1, 3, 3, 0, 3, 0, 1, 2, 0, 0, 0, 1, 2, 0, 2, 1, 4,
    1, 1, 0, 2, 1, 2, 1, 2, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 54, 40, 25, 10, 1, 0, 1, 2, 1, 0, 3, 3, 0, 0, 1,
    1, 2, 0, 5, 1, 0, 5, 2, 2, 0, 4, 0, 1, 3, 0, 0, 1, 1, 4, 5, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 0, 0, 0, 2, 1,
    1, 3, 48, 33, 69, 54, 39, 24, 9, 0, 2, 5, 66, 51, 43, 28, 13, 0, 0, 1, 1, 0, 0, 0, 1, 2, 1, 3, 0, 0, 1,
    0, 1, 0, 0, 2, 0, 1, 1, 0, 0, 3, 3, 2, 1, 0, 0, 1, 0, 1, 5, 4, 0, 0, 0, 3, 4, 2, 2, 1, 3, 0, 1, 3, 1, 1,
    0, 0, 3, 1, 2, 2, 2, 1, 0, 2, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 3, 1, 0, 76, 62, 47, 45, 30, 15, 3, 0, 0, 2,
    1, 1, 0, 1, 4, 5, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 5, 0, 3, 3, 1, 0, 1, 66, 51, 36, 21, 7, 0, 1, 0, 1, 1,
    0, 0, 1, 1, 2, 0, 0, 1, 0, 0, 5, 2, 0, 2, 0, 4, 0, 1, 0, 0, 0, 2, 4, 0, 0, 2, 1, 2, 0, 0, 1, 1, 0, 1, 2,
    1, 2, 2, 3, 2, 0, 3, 3, 2, 3, 0, 3, 2, 1, 0, 2, 3, 1, 0, 0, 0, 1, 2, 0, 0, 1, 1, 1, 3, 0, 1, 1, 1, 0, 2,
    1, 1, 1, 1, 0, 1, 0, 1, 1, 3, 1, 1, 1, 1, 0, 1, 0, 0, 2, 0, 0, 5, 0, 0, 0, 1, 1, 0, 2, 71, 56, 42, 28,
    13, 0, 51, 37, 22, 7, 2, 0, 1, 2, 3, 3, 3, 4, 2, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 2, 0, 0, 1, 1, 5, 0, 1, 2,
    1, 3, 2, 1, 0, 1, 5, 0, 1, 3, 2, 1, 1, 1, 1, 5, 3, 0, 0, 2, 1, 1, 0, 5, 3, 1, 4, 0, 1, 0, 3, 1, 2, 1, 0,
    0, 1, 2, 4, 2, 2, 3, 1, 1, 0, 1, 2, 0, 0, 1, 0, 0, 0, 1, 0, 2, 1, 2, 0, 1, 5, 3, 1, 1, 1, 0, 3, 0, 1, 0,
    2, 1, 4, 0, 0, 0, 0, 2, 0, 0, 1, 1, 3, 0, 2, 1, 4, 0, 1, 0, 2, 0, 0, 1, 3, 2, 2, 2, 1, 2, 0, 0, 0, 0, 3,
    0, 4, 0, 1, 0, 1, 1, 0, 0, 3, 0, 2, 2, 0, 0, 1, 2, 0, 0, 2, 3, 0, 4, 0, 1, 1, 2, 5, 1, 2, 1, 0, 2, 0, 0,
    3, 3, 2, 1, 0, 0, 0, 0, 0, 1, 1, 4, 3, 1, 0, 1, 2, 0, 0, 5, 1, 1, 2, 0, 0, 3, 1, 2, 2, 1, 1, 1, 1, 2, 1,
    0, 1, 1, 1, 1, 1, 2, 2, 0, 0, 2, 1, 39, 24, 9, 5, 1, 0, 1, 0, 2, 0, 5, 0, 1, 5, 0, 0, 0, 1, 1, 1, 1, 1,
    1, 2, 1, 1, 2, 1, 1, 5, 0, 1, 2, 5, 1, 2, 0, 0, 1, 0, 1, 1, 2, 1, 1, 0, 2, 2, 0, 1, 0, 0, 1, 1, 3, 1, 0,
    0, 1, 0, 4, 0, 2, 1, 2, 1, 0, 1, 1, 1, 3, 1, 2, 2, 2, 3, 4, 0, 1, 1, 1, 0, 1, 5, 1, 0, 1, 2, 1, 3, 3, 1,
    71, 56, 42, 27, 12, 2, 0, 2, 1, 0, 0, 0, 2, 0, 2, 0, 0, 2, 0, 1, 1, 0, 0, 1, 1, 1, 3, 0, 1, 1, 5, 2, 1,
    5, 3, 2, 2, 2, 0, 1, 1, 0, 0, 0, 0, 0, 2, 2, 1, 1, 1, 0, 4, 2, 0, 1, 0, 0, 1, 1, 1, 1, 2, 4, 1, 5, 0, 3,
    1, 1, 1, 1,
];

/// Adds this jitter to the latency of a client's uplink.
pub fn jitter(client: &mut App) {
    let world = client.world_mut();
    let latency = world.query::<&NetSim>().iter(world).next().map_or(Duration::ZERO, |sim| sim.up.latency);
    let delay = move |time: Res<Time<Real>>, mut sims: Query<&mut NetSim>| {
        let late = extra_latency(time.elapsed());
        sims.iter_mut().for_each(|mut sim| sim.up.latency = latency + late);
    };
    client.add_systems(PostUpdate, delay.before(NetSystems::SendSimulated));
}

fn extra_latency(time: Duration) -> Duration {
    let slot = (time.as_nanos() / 15_625_000) as usize % EXTRA_MILLISECONDS.len();
    Duration::from_millis(u64::from(EXTRA_MILLISECONDS[slot]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wifi_jitter_has_mostly_short_delays_and_waits_of_30_to_80_ms() {
        let quick = EXTRA_MILLISECONDS.iter().filter(|late| **late <= 5).count();
        assert!(
            (0.85..0.95).contains(&(quick as f64 / EXTRA_MILLISECONDS.len() as f64)),
            "{quick} short delays"
        );
        // Beginnings of waits.
        let waits =
            EXTRA_MILLISECONDS.windows(2).filter(|pair| pair[1] > pair[0].max(10)).map(|pair| pair[1]);
        let waits: Vec<_> = waits.collect();
        assert!(waits.len() >= 16 && waits.iter().all(|wait| (30..=80).contains(wait)), "{waits:?}");
    }

    #[test]
    fn wifi_jitter_never_reorders_packets() {
        for pair in EXTRA_MILLISECONDS.windows(2) {
            assert!(f64::from(pair[1]) + 15.625 >= f64::from(pair[0]), "{pair:?}");
        }
        assert!(
            f64::from(EXTRA_MILLISECONDS[0]) + 15.625
                >= f64::from(EXTRA_MILLISECONDS[EXTRA_MILLISECONDS.len() - 1]),
            "reordered where the table repeats"
        );
    }

    #[test]
    fn wifi_jitter_repeats_after_16_seconds() {
        assert_eq!(extra_latency(Duration::ZERO), extra_latency(Duration::from_secs(16)));
        assert_eq!(extra_latency(Duration::from_nanos(20 * 15_625_000)), Duration::from_millis(78));
    }
}
