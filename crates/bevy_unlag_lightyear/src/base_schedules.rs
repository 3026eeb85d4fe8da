//! Transfer of the schedules of movement bases: to everyone who joins, and when they change.

use bevy::prelude::*;
use bevy_unlag_core::{BaseScheduleMailbox, ServerLeft};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    messages::Side,
    protocol::BaseScheduleMessage,
    spectators::Spectator,
    system_sets::{ReceiveSystems, SendSystems},
};

pub(crate) fn server_plugin(app: &mut App) {
    app.init_resource::<BaseScheduleMailbox>()
        .add_systems(PostUpdate, send_schedules.in_set(SendSystems::Acks));
}

pub(crate) fn client_plugin(app: &mut App) {
    app.init_resource::<BaseScheduleMailbox>()
        .add_observer(follow_server)
        .add_observer(|_: On<ServerLeft>, mut mailbox: ResMut<BaseScheduleMailbox>| {
            mailbox.follows_server = false;
        })
        .add_systems(PreUpdate, receive_schedules.in_set(ReceiveSystems::States));
}

type ClientLink = (Ref<'static, Connected>, &'static mut MessageSender<BaseScheduleMessage>);

fn send_schedules(
    mut mailbox: ResMut<BaseScheduleMailbox>,
    mut links: Query<ClientLink, (With<ClientOf>, Without<Spectator>)>,
    mut bandwidth: ResMut<Bandwidth>,
    #[cfg(feature = "record")] mut recording: Option<ResMut<crate::record::MatchRecording>>,
) {
    let due = if mailbox.has_due() { mailbox.take_due() } else { Vec::new() };
    #[cfg(feature = "record")]
    if let Some(recording) = &mut recording {
        due.iter().for_each(|message| recording.note_bytes(bevy_unlag_record::Extra::BASE_SCHEDULE, message));
    }
    for (connected, mut link) in &mut links {
        let mut send = |message: &[u8]| bandwidth.send(&mut link, message.to_vec());
        if connected.is_added() {
            mailbox.published().for_each(&mut send);
        } else {
            due.iter().for_each(|message| send(message));
        }
    }
}

/// From now on the server decides where bases move. The host of a listen server is the server.
fn follow_server(
    connected: On<Add, Connected>,
    links: Query<(), With<Client>>,
    side: Res<Side>,
    mut mailbox: ResMut<BaseScheduleMailbox>,
) {
    if links.contains(connected.entity) && *side == Side::Client {
        mailbox.follows_server = true;
        // Of another server.
        drop(mailbox.take_received());
    }
}

fn receive_schedules(
    mut messages: ServerMessages<BaseScheduleMessage>,
    mut mailbox: ResMut<BaseScheduleMailbox>,
) {
    messages.take().for_each(|message| mailbox.deliver(message.0));
}
