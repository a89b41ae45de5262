// The bits of a scan, and the codes in them.

package eighth

import (
	"bufio"
	"encoding/binary"
)

const (
	// lookupBits is the length of the codes that a table finds at once. Almost all codes are as short.
	lookupBits = 11
	maxCode    = 16
	// enoughBits are more than a code and the bits of its value.
	enoughBits = 2 * maxCode
)

// bits reads the bits of a scan.
type bits struct {
	*bufio.Reader

	next   uint64 // bits, the first one uppermost
	count  uint   // of them
	padded uint   // of these, at their end: zeros in place of what is missing
}

// fill makes enough bits available. Behind the end of the scan, which is a marker or the end of the file, there are zeros.
func (b *bits) fill() {
	for b.count <= 56 {
		if eight, err := b.Peek(8); err == nil {
			if ahead := binary.BigEndian.Uint64(eight); !has0xff(ahead) {
				b.next |= ahead >> b.count // those beyond the count come again
				taken := (63 - b.count) / 8
				_, _ = b.Discard(int(taken))
				b.count += 8 * taken
				return
			}
		}
		if two, _ := b.Peek(2); len(two) > 0 && two[0] != 0xff {
			b.next |= uint64(two[0]) << (56 - b.count)
			_, _ = b.Discard(1)
		} else if len(two) == 2 && two[1] == 0 { // 0xff in the data
			b.next |= 0xff << (56 - b.count)
			_, _ = b.Discard(2)
		} else {
			b.padded += 8
		}
		b.count += 8
	}
}

// has0xff reports whether one of eight bytes is 0xff: of their complement, one is zero.
func has0xff(eight uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	return (^eight-ones)&eight&tops != 0
}

// drop drops bits that were used.
func (b *bits) drop(count uint) {
	b.next <<= count
	b.count -= count
}

// table finds the symbol of a code.
type table struct {
	// short has what is known of codes by the bits that they begin with: how many bits are to be dropped, and above these
	// eight bits the value that the table has for the symbol; 0 for none.
	short [1 << lookupBits]uint32
	// long are the codes that are longer, in their order.
	long []longCode
}

// longCode is what is known of a code, as a table has it, and the code in the uppermost of so many bits.
type longCode struct {
	code, length uint
	known        uint32
}

// set makes it the table of how many codes of each length there are, and their symbols. known is what is known of a symbol whose
// code has a length; 0 for one that can't be.
func (t *table) set(counts, symbols []byte, known func(symbol byte, length uint) uint32) error {
	*t = table{}
	code := uint(0)
	for length := uint(1); length <= maxCode; length++ {
		for range counts[length-1] {
			if code >= 1<<length {
				return errMalformed
			}
			entry := known(symbols[0], length)
			if length <= lookupBits {
				first := code << (lookupBits - length)
				for n := range uint(1) << (lookupBits - length) {
					t.short[first+n] = entry
				}
			} else {
				t.long = append(t.long, longCode{code: code, length: length, known: entry})
			}
			symbols = symbols[1:]
			code++
		}
		code <<= 1
	}
	return nil
}

// find returns what is known of the code at the beginning of the bits; 0 if there is no such code.
func (t *table) find(next uint64) uint32 {
	if entry := t.short[next>>(64-lookupBits)]; entry != 0 {
		return entry
	}
	for _, one := range t.long {
		if next>>(64-one.length) == uint64(one.code) {
			return one.known
		}
	}
	return 0
}
