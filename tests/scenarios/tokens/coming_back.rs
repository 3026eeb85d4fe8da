//! Reconnecting with a fresh token, whatever the state of the old connection (row F15).

use super::*;

fn link_of(door: &mut Door, client_id: u64) -> Option<Entity> {
    let world = door.app.world_mut();
    let mut links = world.query_filtered::<(Entity, &RemoteId), With<ClientOf>>();
    links.iter(world).find(|(_, id)| id.0 == PeerId::Netcode(client_id)).map(|(link, _)| link)
}

// Row F15.
#[test]
fn fresh_token_replaces_a_live_or_vanished_connection_within_1_5_s() {
    for vanishes in [true, false] {
        let mut door = Door::open();
        let token = door.token(5);
        let mut old = door.come(&token, LinkConditions::PERFECT);
        door.run(&mut [&mut old], 1.0);
        assert!(has_pawn(&mut old));
        let mut keeps_running = [old];
        let still: &mut [App] = if vanishes { &mut [] } else { &mut keeps_running };
        let token = door.token(5);
        let mut new = door.come(&token, LinkConditions::PERFECT);
        let mut clients: Vec<&mut App> = still.iter_mut().chain([&mut new]).collect();
        // netcode alone would wait for its timeout of three seconds.
        door.run(&mut clients, 1.5);
        assert!(is_in(&mut new) && has_pawn(&mut new), "vanished: {vanishes}, {:?}", refused(&new));
        assert_eq!(door.joined(), [PeerId::Netcode(5); 2]);
        assert_eq!(thrown_out(&new), [], "the end of the old connection must not end the new one");
        if !vanishes {
            let [mut old] = keeps_running;
            assert!(!is_in(&mut old));
            assert_eq!(
                thrown_out(&old),
                [KickReason::Replaced],
                "the old client must receive the reason once"
            );
        }
    }
}

// Row F15.
#[test]
fn kicked_client_can_rejoin_at_once_with_a_new_token_only() {
    let mut door = Door::open();
    let token = door.token(5);
    let mut client = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut client], 1.0);
    let link = link_of(&mut door, 5).expect("a link");
    door.app.world_mut().trigger(Kick { entity: link, reason: KickReason::Game(1) });
    // The client does not run: netcode would keep it until its timeout if the server did not disconnect it.
    door.run(&mut [], 0.7);
    assert!(link_of(&mut door, 5).is_none());
    door.run(&mut [&mut client], 0.2);
    assert!(!is_in(&mut client), "the client must notice the disconnect");
    let mut again = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut again], 0.5);
    assert_eq!(refused(&again), [JoinRefusal::Used]);
    let fresh = door.token(5);
    let mut again = door.come(&fresh, LinkConditions::PERFECT);
    door.run(&mut [&mut again], 0.5);
    assert!(is_in(&mut again));
}
