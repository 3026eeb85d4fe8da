//! Announcement of the server's game speed, which its clients follow.

use bevy::prelude::*;
use bevy_unlag_core::{GameClock, Wire};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::Bandwidth,
    link::GameSpeed,
    protocol::{GameSpeedMessage, ServerEventChannel, SpeedAnnouncement},
};

/// On a server: its last announcement.
#[derive(Resource, Debug)]
struct LastAnnouncement(SpeedAnnouncement);

impl Default for LastAnnouncement {
    fn default() -> Self {
        Self(SpeedAnnouncement { number: 0, speed: 1.0 })
    }
}

/// On a client's link: number of the newest announcement.
#[derive(Component, Clone, Copy, Debug)]
struct KnownSpeed(u8);

pub(super) fn server_plugin(app: &mut App) {
    app.init_resource::<LastAnnouncement>()
        .add_observer(inform_late_joiner)
        .add_systems(PostUpdate, announce.run_if(resource_changed::<GameSpeed>).before(MessageSystems::Send));
}

pub(super) fn client_plugin(app: &mut App) {
    app.add_observer(reset_speed).add_systems(PreUpdate, receive_speed.after(MessageSystems::Receive));
}

/// Announces a new speed. It applies to this app from the next frame on, as on clients.
fn announce(
    speed: Res<GameSpeed>,
    mut last: ResMut<LastAnnouncement>,
    mut clock: ResMut<GameClock>,
    mut links: Query<&mut MessageSender<GameSpeedMessage>, (With<ClientOf>, With<Connected>)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let speed = speed.factor();
    if speed == last.0.speed {
        return;
    }
    last.0 = SpeedAnnouncement { number: last.0.number.wrapping_add(1), speed };
    clock.set_speed(f64::from(speed));
    for mut link in &mut links {
        bandwidth.send(&mut link, last.0.to_bytes());
    }
}

/// Informs a client that joins while the game does not run at the speed of real time.
fn inform_late_joiner(
    connected: On<Add, Connected>,
    last: Res<LastAnnouncement>,
    mut links: Query<&mut MessageSender<GameSpeedMessage>, With<ClientOf>>,
) {
    if last.0.speed != 1.0
        && let Ok(mut link) = links.get_mut(connected.entity)
    {
        link.send::<ServerEventChannel>(GameSpeedMessage(last.0.to_bytes()));
    }
}

fn receive_speed(
    mut links: Query<(Entity, Option<&KnownSpeed>, &mut MessageReceiver<GameSpeedMessage>), With<Client>>,
    mut speed: ResMut<GameSpeed>,
    mut clock: ResMut<GameClock>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    for (entity, known, mut link) in &mut links {
        let mut known = known.map(|known| known.0);
        for message in bandwidth.receive(&mut link) {
            let Ok(announced) = SpeedAnnouncement::from_bytes(&message.0) else { continue };
            // Announcements may overtake each other.
            if known.is_some_and(|known| announced.number.wrapping_sub(known).cast_signed() <= 0) {
                continue;
            }
            known = Some(announced.number);
            *speed = GameSpeed(announced.speed);
            clock.set_speed(f64::from(announced.speed));
            commands.entity(entity).insert(KnownSpeed(announced.number));
        }
    }
}

/// Returns to real time when a client leaves a server that has announced a speed.
fn reset_speed(
    ended: On<Remove, Connected>,
    links: Query<(), (With<Client>, With<KnownSpeed>)>,
    mut speed: ResMut<GameSpeed>,
    mut clock: ResMut<GameClock>,
    mut commands: Commands,
) {
    if links.contains(ended.entity) {
        *speed = GameSpeed::default();
        clock.set_speed(1.0);
        commands.entity(ended.entity).try_remove::<KnownSpeed>();
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::WireError;

    use super::*;

    #[test]
    fn announced_speed_survives_a_round_trip_and_invalid_ones_are_errors() {
        let read = |bytes: &[u8]| SpeedAnnouncement::from_bytes(bytes);
        let sent = SpeedAnnouncement { number: 200, speed: 0.3 };
        assert_eq!(sent.to_bytes().len(), 5);
        assert_eq!(read(&sent.to_bytes()), Ok(sent));
        for speed in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5, 16.1] {
            assert_eq!(
                read(&SpeedAnnouncement { speed, ..sent }.to_bytes()),
                Err(WireError::Invalid),
                "{speed}"
            );
        }
        assert_eq!(read(&sent.to_bytes()[..4]), Err(WireError::Ended));
    }
}
