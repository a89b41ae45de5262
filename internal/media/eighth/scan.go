// The scans of a picture.

package eighth

// takeScan decodes the means of a scan. A scan of a progressive file that has none, or adds to what is known of them, is skipped:
// the next marker is behind it.
func (d *decoder) takeScan(content []byte) error {
	if len(content) < 6 || len(content) != 4+2*int(content[0]) || d.components == nil {
		return errMalformed
	}
	last := content[len(content)-3:]
	if d.progressive && (last[0] != 0 || last[2]>>4 != 0) {
		return nil
	}
	shift := last[2] & 15
	if !d.progressive {
		shift = 0
	} else if shift > 13 {
		return errMalformed
	}
	var of []*component
	for one := content[1 : len(content)-3]; len(one) > 0; one = one[2:] {
		c := d.component(one[0])
		if c == nil || one[1]>>4 > 3 || one[1]&15 > 3 {
			return errMalformed
		}
		if c.done || d.quantities[c.quantity] == 0 {
			return errUnsupported
		}
		c.done, c.scale = true, d.quantities[c.quantity]<<shift
		c.table, c.others = d.tables[0][one[1]>>4], d.tables[1][one[1]&15]
		if c.table == nil || c.others == nil && !d.progressive {
			return errMalformed
		}
		of = append(of, c)
	}
	return d.decode(of)
}

func (d *decoder) component(id byte) *component {
	for n := range d.components {
		if d.components[n].id == id {
			return &d.components[n]
		}
	}
	return nil
}

// decode decodes a scan: of each unit all blocks of each component, or of one component alone no more blocks than the picture
// needs.
func (d *decoder) decode(of []*component) error {
	across, down, single := d.across, d.down, len(of) == 1
	if first, c := d.components[0], of[0]; single {
		across = ((d.width*c.h+first.h-1)/first.h + 7) / 8
		down = ((d.height*c.v+first.v-1)/first.v + 7) / 8
	}
	for unit := range across * down {
		if err := d.begin(unit, of); err != nil {
			return err
		}
		for _, c := range of {
			h, v := c.h, c.v
			if single {
				h, v = 1, 1
			}
			at := unit/across*v*c.stride + unit%across*h
			for range v {
				for x := range h {
					if !d.block(c, at+x) {
						return errMalformed
					}
				}
				at += c.stride
			}
		}
		if d.count < d.padded { // bits were used that are not in the file
			return errMalformed
		}
	}
	return nil
}

// begin begins a unit: a scan, and what follows a restart, begin anew.
func (d *decoder) begin(unit int, of []*component) error {
	switch {
	case unit == 0:
		d.next, d.count, d.padded = 0, 0, 0
	case d.interval == 0 || unit%d.interval != 0:
		return nil
	default:
		if found, err := d.marker(); err != nil || found != markerRestart+byte((unit/d.interval-1)%8) { //nolint:gosec // it is small
			return errMalformed
		}
	}
	for _, c := range of {
		c.mean = 0
	}
	return nil
}

// block decodes the mean of a block, and skips what else it has.
func (d *decoder) block(c *component, at int) bool {
	if d.count < enoughBits {
		d.fill()
	}
	known := c.table.find(d.next)
	if known == 0 {
		return false
	}
	d.drop(uint(known & 0xff))
	if size := uint(known >> 8); size > 0 {
		difference := int32(d.next >> (64 - size)) //nolint:gosec // it has 15 bits at most
		if d.next>>63 == 0 {                       // it is negative
			difference -= 1<<size - 1
		}
		c.mean += difference
		d.drop(size)
	}
	c.means[at] = uint8(min(max(128+(c.mean*c.scale+4)>>3, 0), 255))
	return d.progressive || d.skip(c.others)
}

// skip skips the other 63 numbers of a block.
func (d *decoder) skip(others *table) bool {
	next, count := d.next, d.count
	for done := uint32(0); done < 63; {
		if count < enoughBits {
			d.next, d.count = next, count
			d.fill()
			next, count = d.next, d.count
		}
		known := others.short[next>>(64-lookupBits)]
		if known == 0 {
			if known = others.find(next); known == 0 {
				return false
			}
		}
		next <<= known & 0xff
		count -= uint(known & 0xff)
		done += known >> 8
	}
	d.next, d.count = next, count
	return true
}
