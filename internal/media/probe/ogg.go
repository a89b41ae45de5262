// The length of an Ogg file.

package probe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	oggHeaderSize = 27
	oggContinued  = 0x01
	oggFirstPage  = 0x02
	oggNoGranule  = -1
	opusRate      = 48000
	// maxOggStreams bounds how many streams of a hostile file are remembered.
	maxOggStreams = 64
)

// oggStream is one logical stream of an Ogg file.
type oggStream struct {
	codec   string // empty: not known
	video   bool
	preSkip int64
	rate    float64
	granule int64 // position at the end of the last page that has one
	clock   opusClock
}

func (s oggStream) duration() time.Duration {
	if s.rate == 0 {
		return 0
	}
	return Duration(float64(s.granule-s.clock.begin-s.preSkip), s.rate)
}

// readOgg reads the page headers of an Ogg file from its start, and the first
// packet of each stream. It stops where the file is no longer Ogg.
func readOgg(file io.ReadSeeker) (Tracks, error) {
	reader := &oggReader{from: bufio.NewReaderSize(file, 64<<10)}
	var streams []*oggStream
	current := map[uint32]*oggStream{} // by serial number
	for {
		page, err := reader.next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errNotOgg) {
			return oggTracks(streams), nil
		}
		if err != nil {
			return Tracks{}, fmt.Errorf("probe: read ogg page: %w", err)
		}
		if page.first && len(streams) < maxOggStreams {
			current[page.serial] = newOggStream(page.content)
			streams = append(streams, current[page.serial])
		}
		stream := current[page.serial]
		if stream == nil {
			continue
		}
		if stream.codec == "opus" {
			stream.clock.read(page)
		}
		if page.granule != oggNoGranule {
			stream.granule = max(stream.granule, page.granule)
		}
	}
}

var errNotOgg = errors.New("probe: not an ogg page")

type oggPage struct {
	first, continued bool // continued: it begins within a packet
	granule          int64
	serial           uint32
	segments         []byte // the length of each; a packet ends with one of less than 255
	content          []byte
}

// oggReader reads pages one after another. A page is valid until the next one is read.
type oggReader struct {
	from    *bufio.Reader
	table   [255]byte
	content [255 * 255]byte
}

func (r *oggReader) next() (oggPage, error) {
	var header [oggHeaderSize]byte
	if _, err := io.ReadFull(r.from, header[:]); err != nil {
		return oggPage{}, err
	}
	if string(header[:4]) != "OggS" || header[4] != 0 {
		return oggPage{}, errNotOgg
	}
	page := oggPage{
		first: header[5]&oggFirstPage != 0, continued: header[5]&oggContinued != 0,
		granule:  int64(binary.LittleEndian.Uint64(header[6:])), //nolint:gosec // the format's own -1 says "none"
		serial:   binary.LittleEndian.Uint32(header[14:]),
		segments: r.table[:header[26]],
	}
	if _, err := io.ReadFull(r.from, page.segments); err != nil {
		return oggPage{}, err
	}
	size := 0
	for _, segment := range page.segments {
		size += int(segment)
	}
	page.content = r.content[:size]
	_, err := io.ReadFull(r.from, page.content)
	return page, err
}

// opusClock finds the position at which the sound of a stream begins. It is not zero in a recording
// that was cut out of a longer one (RFC 7845, section 4.3).
type opusClock struct {
	packets int   // that have begun, with the two of the header
	whole   int64 // samples of packets that are complete
	open    int64 // samples of the packet that the next page goes on with
	begin   int64
	known   bool
}

func (c *opusClock) read(page oggPage) {
	if c.known {
		return
	}
	at, begins := 0, !page.continued
	for _, segment := range page.segments {
		if begins {
			c.packets++
			c.open = 0
			if c.packets > 2 {
				c.open = opusSamples(page.content[at : at+int(segment)])
			}
		}
		at += int(segment)
		if begins = segment < 255; begins {
			c.whole += c.open
			c.open = 0
		}
	}
	if c.whole > 0 && page.granule != oggNoGranule {
		c.begin, c.known = max(0, page.granule-c.whole), true
	}
}

// opusSamples returns how many samples, at 48 kHz, the beginning of a packet says that it holds
// (RFC 6716, section 3.1).
func opusSamples(packet []byte) int64 {
	if len(packet) == 0 {
		return 0
	}
	const (
		hybrid, celt = 12, 16 // the first configurations of each mode
		manyFrames   = 3
	)
	var frame int64
	switch config := packet[0] >> 3; {
	case config < hybrid:
		frame = []int64{480, 960, 1920, 2880}[config&3]
	case config < celt:
		frame = []int64{480, 960}[config&1]
	default:
		frame = []int64{120, 240, 480, 960}[config&3]
	}
	switch code := packet[0] & 3; {
	case code == 0:
		return frame
	case code < manyFrames:
		return 2 * frame
	case len(packet) < 2:
		return 0
	default:
		return frame * int64(packet[1]&0x3f)
	}
}

// newOggStream recognises a stream's codec by its first packet.
func newOggStream(packet []byte) *oggStream {
	switch {
	case bytes.HasPrefix(packet, []byte("OpusHead")) && len(packet) >= 12:
		return &oggStream{codec: "opus", rate: opusRate, preSkip: int64(binary.LittleEndian.Uint16(packet[10:]))}
	case bytes.HasPrefix(packet, []byte("\x01vorbis")) && len(packet) >= 16:
		return &oggStream{codec: "vorbis", rate: float64(binary.LittleEndian.Uint32(packet[12:]))}
	case bytes.HasPrefix(packet, []byte("\x7fFLAC")):
		return &oggStream{codec: "flac"}
	case bytes.HasPrefix(packet, []byte("Speex   ")):
		return &oggStream{codec: "speex"}
	case bytes.HasPrefix(packet, []byte("\x80theora")):
		return &oggStream{codec: "theora", video: true}
	default:
		return &oggStream{}
	}
}

// oggTracks adds up the streams. If a file was joined from several files, their streams
// play one after the other.
func oggTracks(streams []*oggStream) Tracks {
	var found Tracks
	for _, stream := range streams {
		found.Duration += stream.duration()
		switch {
		case stream.video:
			found.Video, found.VideoCodec = true, stream.codec
		case !found.Audio:
			found.Audio, found.AudioCodec = stream.codec != "", stream.codec
		case found.AudioCodec != stream.codec:
			found.AudioCodec = "several codecs"
		}
	}
	return found
}
