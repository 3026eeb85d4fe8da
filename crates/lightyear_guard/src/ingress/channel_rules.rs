//! Channel and message rules for clients, derived from what the game has registered.
//!
//! lightyear enforces directions for channels, not for messages: any registered message is decoded on any
//! channel. Here, messages that only servers send are refused, the suite's and lightyear's own messages are
//! accepted on their own channels only, and all other messages, which are the game's, on every channel on
//! which clients send.

use core::any::TypeId;

use bevy::{
    ecs::component::{ComponentId, Components},
    platform::collections::HashSet,
    prelude::*,
    reflect::{PartialReflect, ReflectRef},
};
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};
use lightyear_transport::channel::ChannelKind;

use super::{content::Content, limits::IngressRefusal, packet::Bytes};

/// Messages that clients may send on one channel only.
///
/// A message that is registered with lightyear and not bound here belongs to the game: clients may send it on
/// every channel that is not closed.
#[derive(Resource, Default, Debug)]
pub struct BoundMessages {
    messages: Vec<(TypeId, ChannelKind, u16)>,
    closed: Vec<ChannelKind>,
}

/// Binds messages to channels. Call it on servers; on clients it has no effect.
pub trait BindMessage {
    /// Lets clients send messages of type `M` on channel `C` only, whole and in at most `most` bytes.
    fn bind_message<M: 'static, C: Channel>(&mut self, most: u16) -> &mut Self;

    /// Lets clients send nothing on channel `C` but the messages that are bound to it.
    fn close_channel<C: Channel>(&mut self) -> &mut Self;
}

impl BindMessage for App {
    fn bind_message<M: 'static, C: Channel>(&mut self, most: u16) -> &mut Self {
        let mut bound = self.world_mut().get_resource_or_init::<BoundMessages>();
        bound.messages.push((TypeId::of::<M>(), ChannelKind::of::<C>(), most));
        self
    }

    fn close_channel<C: Channel>(&mut self) -> &mut Self {
        self.world_mut().get_resource_or_init::<BoundMessages>().closed.push(ChannelKind::of::<C>());
        self
    }
}

/// Channels and messages that a client may use.
#[derive(Resource, Default, Debug)]
pub(super) struct ChannelRules {
    /// By channel id. `None`: clients do not send on it.
    channels: Vec<Option<ChannelRule>>,
    /// By message id.
    messages: Vec<MessageRule>,
    /// Number of channels with a receive window, see [`Retention::Windowed`].
    pub windows: usize,
}

/// Rules of a channel on which clients send.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelRule {
    /// Whether its messages are `bevy_replicon`'s raw bytes, without a message id of their type.
    raw: bool,
    /// Whether every message has a sequence number.
    numbered: bool,
    /// Whether a game's messages may use it.
    open: bool,
    /// Messages of it that lightyear stores.
    pub retention: Retention,
}

/// Data of a channel that lightyear stores while something is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Retention {
    /// Fragments, for three seconds.
    Temporary,
    /// Fragments, for ever if a newer message replaces theirs.
    Superseded,
    /// Messages and fragments until all previous messages have arrived. Contains the index of the receive
    /// window.
    Windowed(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MessageRule {
    /// Only servers send it.
    Refused,
    /// A message of lightyear or of the suite, accepted on one channel.
    Bound { channel: u16, content: Content },
    /// A game's message.
    Free,
}

impl ChannelRules {
    /// Returns example rules: channel 0 is unreliable, channel 1 reliable, channel 2 carries message 1, a
    /// ping; message 0 is a game's.
    pub(super) fn example() -> Self {
        let rule = |open, numbered, retention| Some(ChannelRule { raw: false, numbered, open, retention });
        Self {
            channels: vec![
                rule(true, false, Retention::Temporary),
                rule(true, true, Retention::Windowed(0)),
                rule(false, false, Retention::Temporary),
            ],
            messages: vec![MessageRule::Free, MessageRule::Bound { channel: 2, content: Content::Ping }],
            windows: 1,
        }
    }

    pub(super) fn are_known(&self) -> bool {
        !self.channels.is_empty()
    }

    pub(super) fn channel(&self, channel: u16) -> Result<ChannelRule, IngressRefusal> {
        self.channels.get(usize::from(channel)).copied().flatten().ok_or(IngressRefusal::Channel)
    }

    /// Returns the content of a message and its remaining bytes, if a client may send it on this channel.
    pub(super) fn message<'a>(
        &self,
        channel: u16,
        id: Option<u16>,
        bytes: &'a [u8],
    ) -> Result<(Content, &'a [u8]), IngressRefusal> {
        let rule = self.channel(channel)?;
        if rule.numbered && id.is_none() {
            return Err(IngressRefusal::Malformed);
        }
        if rule.raw {
            return Ok((Content::Unchecked, bytes));
        }
        let mut rest = Bytes(bytes);
        let net_id = rest.net_id().ok_or(IngressRefusal::Malformed)?;
        match self.messages.get(usize::from(net_id)) {
            Some(MessageRule::Bound { channel: bound, content }) if *bound == channel => {
                Ok((*content, rest.0))
            }
            Some(MessageRule::Free) if rule.open => Ok((Content::Unchecked, rest.0)),
            _ => Err(IngressRefusal::Message),
        }
    }
}

/// Derives the rules when the first client connects: by then everything is registered, and all links are
/// alike.
pub(super) fn derive_rules(
    links: Query<(&Transport, &MessageManager), (With<ClientOf>, Without<HostClient>)>,
    channels: Res<ChannelRegistry>,
    messages: Res<MessageRegistry>,
    components: &Components,
    own: Res<BoundMessages>,
    mut rules: ResMut<ChannelRules>,
) {
    let Some((transport, manager)) = links.iter().next() else { return };
    rules.windows = 0;
    for kind in transport.channel_receives().map(ChannelReceive::channel_kind) {
        let Some((id, settings)) = channels.get_net_from_kind(&kind).zip(channels.settings(kind)) else {
            continue;
        };
        let retention = match settings.mode {
            ChannelMode::UnorderedReliable(_) | ChannelMode::OrderedReliable(_) => {
                rules.windows += 1;
                Retention::Windowed(rules.windows - 1)
            }
            ChannelMode::SequencedReliable(_) => Retention::Superseded,
            _ => Retention::Temporary,
        };
        let numbered =
            retention != Retention::Temporary || matches!(settings.mode, ChannelMode::SequencedUnreliable);
        let place = usize::from(*id);
        if rules.channels.len() <= place {
            rules.channels.resize(place + 1, None);
        }
        rules.channels[place] = match channels.get_name_from_kind(&kind).rsplit("::").next() {
            // Registered for both directions, but a server that receives one panics: it only replicates to
            // clients.
            Some("RepliconUpdatesChannel" | "RepliconMutationsChannel") => None,
            Some("RepliconMutationAcksChannel") => {
                Some(ChannelRule { raw: true, numbered, open: false, retention })
            }
            _ => {
                let open = kind != ChannelKind::of::<PingChannel>() && !own.closed.contains(&kind);
                Some(ChannelRule { raw: false, numbered, open, retention })
            }
        };
    }
    let bound = bound(&channels, &own);
    let down = only_from_servers(manager, components);
    let kinds = (0..=u16::MAX).map_while(|id| messages.kind_map.kind(id));
    rules.messages = kinds
        .map(|kind| {
            let is = |type_id: &TypeId| *kind == (*type_id).into();
            match bound.iter().find(|(type_id, ..)| is(type_id)) {
                Some(&(_, channel, content)) => {
                    channel.map_or(MessageRule::Refused, |channel| MessageRule::Bound { channel, content })
                }
                None if down.iter().any(is) => MessageRule::Refused,
                None => MessageRule::Free,
            }
        })
        .collect();
    debug!("clients may send on {} channels", rules.channels.iter().flatten().count());
}

/// Returns the messages of lightyear and of the suite, and their channels.
fn bound(channels: &ChannelRegistry, own: &BoundMessages) -> Vec<(TypeId, Option<u16>, Content)> {
    let id = |kind| channels.get_net_from_kind(&kind).copied();
    let ping = id(ChannelKind::of::<PingChannel>());
    let metadata = (0..=u16::MAX)
        .map_while(|id| channels.get_kind_from_net_id(id).map(|_| id))
        .find(|id| channels.get_name_from_net_id(*id).ends_with("::MetadataChannel"));
    let own =
        own.messages.iter().map(|(message, channel, most)| (*message, id(*channel), Content::Bound(*most)));
    let lightyear = [
        (TypeId::of::<Ping>(), ping, Content::Ping),
        (TypeId::of::<Pong>(), ping, Content::Pong),
        (TypeId::of::<SenderMetadata>(), metadata, Content::Metadata),
    ];
    own.chain(lightyear).collect()
}

/// Returns the messages that only servers send. lightyear does not store directions by name: a direction is a
/// sender component that every link of one side requires.
fn only_from_servers(manager: &MessageManager, components: &Components) -> Vec<TypeId> {
    let client = components.component_id::<Client>().and_then(|id| components.get_info(id));
    let up: HashSet<ComponentId> =
        client.iter().flat_map(|info| info.required_components().iter_ids()).collect();
    let mut down = Vec::new();
    let ReflectRef::Struct(manager) = manager.reflect_ref() else { return down };
    for list in ["send_messages", "send_triggers"].into_iter().filter_map(|name| manager.field(name)) {
        let ReflectRef::List(list) = list.reflect_ref() else { continue };
        down.extend(list.iter().filter_map(|entry| {
            let ReflectRef::Tuple(entry) = entry.reflect_ref() else { return None };
            let ReflectRef::TupleStruct(kind) = entry.field(0)?.reflect_ref() else { return None };
            let sender = entry.field(1)?.try_downcast_ref::<ComponentId>()?;
            kind.field(0)?.try_downcast_ref::<TypeId>().copied().filter(|_| !up.contains(sender))
        }));
    }
    down
}
