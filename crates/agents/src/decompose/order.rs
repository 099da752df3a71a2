//! What must be reached before what, and whether that is possible.

/// A way along dependencies that leads back to where it began, where there is one. `before` has, for
/// each place, the places that come before it.
pub fn cycle(before: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut open: Vec<bool> = vec![true; before.len()];
    let is_open = |open: &[bool], at: usize| open.get(at).copied().unwrap_or(false);
    // Whoever waits for nobody that is open is not part of a cycle.
    loop {
        let free: Vec<usize> = before
            .iter()
            .enumerate()
            .filter(|(at, needs)| {
                is_open(&open, *at) && !needs.iter().any(|need| is_open(&open, *need))
            })
            .map(|(at, _)| at)
            .collect();
        if free.is_empty() {
            break;
        }
        for at in free {
            if let Some(place) = open.get_mut(at) {
                *place = false;
            }
        }
    }
    // Whoever is left waits for somebody who is left: following that leads round.
    let mut way = vec![open.iter().position(|open| *open)?];
    loop {
        let here = *way.last()?;
        let next = before.get(here)?.iter().copied().find(|need| is_open(&open, *need))?;
        if let Some(seen) = way.iter().position(|place| *place == next) {
            way.push(next);
            return Some(way.split_off(seen));
        }
        way.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_and_a_graph_without_one_has_none() {
        let check = |before: &[&[usize]], expected: Option<&[usize]>| {
            let before: Vec<Vec<usize>> = before.iter().map(|needs| needs.to_vec()).collect();
            assert_eq!(cycle(&before).as_deref(), expected, "{before:?}");
        };
        check(&[], None);
        check(&[&[], &[0], &[0, 1]], None);
        check(&[&[1], &[2], &[]], None);
        check(&[&[1], &[0]], Some(&[0, 1, 0]));
        check(&[&[0]], Some(&[0, 0]));
        check(&[&[1], &[2], &[3], &[1]], Some(&[1, 2, 3, 1]));
    }
}
