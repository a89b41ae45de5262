// Which of the three codecs of MPEG audio a file holds.

package probe

import (
	"bytes"
	"fmt"
	"io"
)

// readMPEG reads the header of the first frame of MPEG audio, behind a tag of ID3 and zeros. The codec
// stays unknown where something else is there: players look for the next frame then.
func readMPEG(file io.ReadSeeker) (Tracks, error) {
	found := Tracks{Audio: true}
	const tagHeader, padding = 10, 4 << 10
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Tracks{}, fmt.Errorf("probe: seek in mpeg: %w", err)
	}
	head := make([]byte, tagHeader)
	if _, err := io.ReadFull(file, head); err != nil {
		return found, ignoreEnd(err)
	}
	var begin int64
	if string(head[:3]) == "ID3" { // its length has seven bits in each byte (ID3v2.4, section 6.2)
		begin = tagHeader + (int64(head[6]&0x7f)<<21 | int64(head[7]&0x7f)<<14 | int64(head[8]&0x7f)<<7 | int64(head[9]&0x7f))
	}
	if _, err := file.Seek(begin, io.SeekStart); err != nil {
		return Tracks{}, fmt.Errorf("probe: seek in mpeg: %w", err)
	}
	frame, err := io.ReadAll(io.LimitReader(file, padding))
	if err != nil {
		return Tracks{}, fmt.Errorf("probe: read mpeg: %w", err)
	}
	frame = bytes.TrimLeft(frame, "\x00")
	if len(frame) < 4 || frame[0] != 0xff || frame[1]&0xe0 != 0xe0 {
		return found, nil
	}
	found.AudioCodec = map[byte]string{1: "mp3", 2: "mp2", 3: "mp1"}[frame[1]>>1&3] // the layer
	return found, nil
}
