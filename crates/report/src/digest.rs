//! SHA-256 (FIPS 180-4), by which witnesses name files.

/// The hash in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut state = fractions(2, 8);
    let constants = fractions(3, 64);
    let mut message = bytes.to_vec();
    // The length fills up the last block.
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64) - 8, 0);
    message.extend((8 * bytes.len() as u64).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut words: Vec<u32> =
            block.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().expect("four bytes"))).collect();
        for at in 16..64 {
            let mixed = |word: u32, a, b, c: u32| word.rotate_right(a) ^ word.rotate_right(b) ^ (word >> c);
            let (first, second) = (mixed(words[at - 15], 7, 18, 3), mixed(words[at - 2], 17, 19, 10));
            words.push(words[at - 16].wrapping_add(first).wrapping_add(words[at - 7]).wrapping_add(second));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] =
            <[u32; 8]>::try_from(&state[..]).expect("eight words");
        for (word, constant) in words.iter().zip(&constants) {
            let turned = |word: u32, a, b, c| word.rotate_right(a) ^ word.rotate_right(b) ^ word.rotate_right(c);
            let chosen = (e & f) ^ (!e & g);
            let first =
                h.wrapping_add(turned(e, 6, 11, 25)).wrapping_add(chosen).wrapping_add(*constant).wrapping_add(*word);
            let second = turned(a, 2, 13, 22).wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(add);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

/// The first 32 bits behind the point of the square (2) or cube (3) roots of the first primes.
fn fractions(root: u32, count: usize) -> Vec<u32> {
    let is_prime = |n: &u128| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let fraction = |prime: u128| {
        // The greatest number whose power is at most the prime, both scaled by powers of two.
        let wanted = prime << (32 * root);
        let (mut low, mut high) = (0u128, 1u128 << 37);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(root) <= wanted { low = middle } else { high = middle }
        }
        low as u32
    };
    (2u128..).filter(is_prime).take(count).map(fraction).collect()
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha256(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        // What just fits into a block with its length, what does not, and what fills one.
        assert_eq!(sha256(&[b'a'; 55]), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
        assert_eq!(sha256(&[b'a'; 56]), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
        assert_eq!(sha256(&[b'a'; 64]), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
        assert_eq!(sha256(&[b'a'; 1000]), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
    }
}
