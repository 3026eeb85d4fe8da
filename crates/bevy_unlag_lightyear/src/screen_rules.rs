//! Transfer of the rules by which clients show their own shots: to everyone who joins, and when they change.

use bevy::prelude::*;
use bevy_unlag_core::Wire;
use bevy_unlag_weapons::{FireRules, ScreenRules};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::Bandwidth,
    protocol::ScreenRulesMessage,
    system_sets::{ReceiveSystems, SendSystems},
};

/// Rules with the number of their change: reliable messages may overtake each other.
#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct NumberedRules {
    number: u32,
    rules: ScreenRules,
}

pub(crate) fn server_plugin(app: &mut App) {
    app.add_systems(PostUpdate, send_rules.in_set(SendSystems::Shots));
}

type Link = (Ref<'static, Connected>, &'static mut MessageSender<ScreenRulesMessage>);

fn send_rules(
    rules: Option<Res<FireRules>>,
    mut links: Query<Link, With<ClientOf>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut number: Local<u32>,
) {
    let Some(rules) = rules else { return };
    let changed = rules.is_changed();
    *number += u32::from(changed);
    for (connected, mut link) in &mut links {
        if changed || connected.is_added() {
            let rules = NumberedRules { number: *number, rules: ScreenRules::from(&*rules) };
            bandwidth.send(&mut link, rules.to_bytes());
        }
    }
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_observer(|connected: On<Add, Connected>, mut commands: Commands| {
        commands.entity(connected.entity).try_remove::<KnownRules>();
    })
    .add_systems(PreUpdate, receive_rules.in_set(ReceiveSystems::Shots));
}

/// On the client's link: the number of the newest rules that have arrived.
#[derive(Component, Clone, Copy)]
struct KnownRules(u32);

type ServerLink = (Entity, &'static mut MessageReceiver<ScreenRulesMessage>, Option<&'static KnownRules>);

fn receive_rules(
    rules: Option<ResMut<FireRules>>,
    mut links: Query<ServerLink, With<Client>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    let Some(mut rules) = rules else { return };
    for (entity, mut link, known) in &mut links {
        let mut known = known.map(|known| known.0);
        for message in bandwidth.receive(&mut link) {
            let Ok(received) = NumberedRules::from_bytes(&message.0) else { continue };
            if known.is_some_and(|known| received.number < known) {
                continue;
            }
            known = Some(received.number);
            commands.entity(entity).insert(KnownRules(received.number));
            let next = received.rules.within(&rules);
            rules.set_if_neq(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_unlag_core::WireError;
    use bevy_unlag_weapons::FriendlyFire;

    #[test]
    fn numbered_rules_survive_a_round_trip() {
        let rules = FireRules { friendly_fire: FriendlyFire::Block, ..FireRules::default() };
        let sent = NumberedRules { number: 70_000, rules: ScreenRules::from(&rules) };
        let bytes = sent.to_bytes();
        assert!(bytes.len() <= 18, "{} bytes", bytes.len());
        assert_eq!(NumberedRules::from_bytes(&bytes), Ok(sent));
        assert_eq!(NumberedRules::from_bytes(&bytes[..17]), Err(WireError::Ended));
    }
}
