//! Packet filter: checks a client's packets after netcode has decrypted them and before lightyear reads them.
//! Netcode has authenticated the sender, so offences count as strikes against the client.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::{
    connection::host::HostClient,
    link::Link,
    prelude::{Connected, LinkOf, PeerAddr, RemoteId},
};
use lightyear_transport::packet::fragment_size_for_min_mtu;

use super::{
    IngressLimits, IngressRefusal, IngressStats, Kick, KickReason, LinkTraffic,
    channel_rules::ChannelRules,
    content::WireEntity,
    datagram_filter::DecryptionBudget,
    kick::PendingKick,
    packet::{Item, walk},
    reassembly::{FragmentHeader, ReassemblyState},
    retain_received,
    token_bucket::TokenBucket,
    unsolicited_pongs::UselessPongs,
};
use crate::log_lines::{self, LogConfig, client_name};

/// Strikes for a packet that no honest client sends.
pub(super) const OFFENCE_STRIKES: f32 = 10.0;
/// Strikes per second of exceeding a rate limit.
const EXCESS_STRIKES_PER_SECOND: f32 = 40.0;

/// Filter state of a connected client.
#[derive(Component, Default)]
pub(super) struct PacketFilter {
    age: Duration,
    packets: TokenBucket,
    bytes: TokenBucket,
    messages: TokenBucket,
    services: TokenBucket,
    reassembly: Option<ReassemblyState>,
    /// Entity id that the client has announced for its end. lightyear keeps every id that it receives, so
    /// only one is allowed.
    name: Option<WireEntity>,
    /// Whether its strikes were logged since it last had none.
    strikes_logged: bool,
}

/// Messages in an admitted packet.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub messages: u32,
    services: u32,
}

/// Attaches the filter to a link when its connection is established.
pub(super) fn attach(
    connected: On<Add, Connected>,
    links: Query<(), (With<LinkOf>, Without<HostClient>)>,
    mut commands: Commands,
) {
    if links.contains(connected.entity) {
        let state = (
            PacketFilter::default(),
            DecryptionBudget::default(),
            UselessPongs::default(),
            LinkTraffic::default(),
        );
        commands.entity(connected.entity).try_insert(state);
    }
}

pub(super) fn filter_packets(
    time: Res<Time<Real>>,
    limits: Res<IngressLimits>,
    rules: Res<ChannelRules>,
    log: Res<LogConfig>,
    mut links: Query<
        (
            Entity,
            &mut Link,
            &mut PacketFilter,
            &mut LinkTraffic,
            Has<PendingKick>,
            (&RemoteId, Option<&PeerAddr>),
        ),
        (With<LinkOf>, With<Connected>, Without<HostClient>),
    >,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    if !rules.are_known() {
        // Nothing passes unchecked. Reliable messages are retransmitted.
        for (_, mut link, ..) in &mut links {
            link.recv.drain();
        }
        return;
    }
    let (now, passed) = (time.elapsed(), time.delta());
    for (entity, mut link, mut gate, mut traffic, leaving, (peer, address)) in &mut links {
        gate.advance(&limits, passed);
        let (mtu, part) = (link.mtu(), fragment_size_for_min_mtu(link.min_mtu()));
        let mut excess = false;
        let mut strikes = (traffic.strikes - limits.strikes_forgiven * passed.as_secs_f32()).max(0.0);
        retain_received(&mut link, |packet| {
            let verdict = if leaving {
                Err(IngressRefusal::PendingKick)
            } else {
                gate.check(packet, &rules, &limits, (mtu, part), now)
            };
            match verdict {
                Ok(cost) => {
                    traffic.packets += 1;
                    traffic.bytes += packet.len() as u64;
                    traffic.messages += u64::from(cost.messages);
                    stats.packets += 1;
                }
                Err(refusal) => {
                    traffic.refused.count(refusal);
                    stats.refused.count(refusal);
                    excess |= refusal.is_excess();
                    strikes += if refusal.is_offence() { OFFENCE_STRIKES } else { 0.0 };
                }
            }
            verdict.is_ok()
        });
        strikes += if excess { EXCESS_STRIKES_PER_SECOND * passed.as_secs_f32().min(1.0) } else { 0.0 };
        if gate.age < limits.grace {
            // Clients of another version get time to receive the explanation and to leave.
            strikes = strikes.min(limits.strikes * 0.5);
        }
        traffic.strikes = strikes;
        if gate.should_log_strikes(strikes, limits.strikes) {
            warn!(
                target: log_lines::STRIKES,
                client = %client_name(peer.0),
                address = log.address(address),
                strikes,
                limit = limits.strikes,
                refusal = traffic.refused.most().map(IngressRefusal::name),
                "client has strikes"
            );
        }
        if strikes >= limits.strikes && !leaving {
            let reason = if excess { KickReason::Flood } else { KickReason::InvalidPackets };
            commands.trigger(Kick { entity, reason });
        }
    }
}

impl PacketFilter {
    pub(super) fn advance(&mut self, limits: &IngressLimits, passed: Duration) {
        self.age += passed;
        for (bucket, rate) in [
            (&mut self.packets, limits.packets_per_second),
            (&mut self.bytes, limits.bytes_per_second),
            (&mut self.messages, limits.messages_per_second),
            (&mut self.services, limits.service_messages_per_second),
        ] {
            bucket.fill(rate, limits.burst, passed);
        }
    }

    /// Whether to log the client's strikes: once when they reach a tenth of the limit, until it has none.
    fn should_log_strikes(&mut self, strikes: f32, limit: f32) -> bool {
        let is_high = strikes > 0.0 && strikes >= limit * 0.1;
        let was_logged = self.strikes_logged;
        self.strikes_logged = is_high || (was_logged && strikes > 0.0);
        is_high && !was_logged
    }

    /// Checks a packet and returns its cost. Only an admitted packet changes the message, fragment and id
    /// state; packet and byte budgets are always charged.
    pub(super) fn check(
        &mut self,
        packet: &[u8],
        rules: &ChannelRules,
        limits: &IngressLimits,
        (mtu, part_size): (usize, Option<usize>),
        now: Duration,
    ) -> Result<Cost, IngressRefusal> {
        let excess = |has, refusal| if has { Ok(()) } else { Err(refusal) };
        // Before any parsing: a flood must stay cheap.
        excess(self.packets.take(1.0), IngressRefusal::Packets)?;
        excess(self.bytes.take(packet.len() as f32), IngressRefusal::Bytes)?;
        if packet.len() > mtu {
            return Err(IngressRefusal::Size);
        }
        let reassembly = self.reassembly.get_or_insert_with(|| ReassemblyState::new(rules.windows));
        let mut cost = Cost::default();
        let mut said = self.name;
        walk(packet, |item| {
            cost.messages += 1;
            match item {
                Item::Message { channel, id, bytes } => {
                    let (content, bytes) = rules.message(channel, id, bytes)?;
                    cost.services += u32::from(content.is_service());
                    if let Some(name) = content.check(bytes)?
                        && *said.get_or_insert(name) != name
                    {
                        return Err(IngressRefusal::Content);
                    }
                    reassembly.admits(rules.channel(channel)?.retention, id)
                }
                Item::Fragment { channel, id, index, parts, bytes } => {
                    let rule = rules.channel(channel)?;
                    // The first fragment starts like the whole message; all fragments but the last have the
                    // same size.
                    if index == 0 && !rules.message(channel, Some(id), bytes)?.0.is_divisible() {
                        return Err(IngressRefusal::Message);
                    }
                    let fits = part_size.is_some_and(|size| match index.checked_add(1) {
                        Some(next) if next < parts => bytes.len() == size,
                        _ => bytes.len() <= size,
                    });
                    if !fits {
                        return Err(IngressRefusal::Fragments);
                    }
                    let part = FragmentHeader { channel, id, index, parts };
                    reassembly.admits_fragment(rule.retention, part, limits.max_fragments, now)
                }
            }
        })?;
        excess(self.messages.has(cost.messages as f32), IngressRefusal::Messages)?;
        excess(self.services.take(cost.services as f32), IngressRefusal::ServiceMessages)?;
        self.messages.spend(cost.messages as f32);
        self.name = said;
        walk(packet, |item| {
            match item {
                Item::Message { channel, id, bytes } => {
                    reassembly.record(rules.channel(channel)?.retention, id, bytes.len());
                }
                Item::Fragment { channel, id, index, parts, .. } => {
                    reassembly.record_fragment(
                        rules.channel(channel)?.retention,
                        FragmentHeader { channel, id, index, parts },
                        now,
                    );
                }
            }
            Ok(())
        })?;
        Ok(cost)
    }
}

#[cfg(test)]
#[path = "packet_filter/tests.rs"]
mod tests;
