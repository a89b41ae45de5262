// The length and picture size of an MP4 file.

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

const (
	// maxBoxes bounds how many boxes of an MP4 file are read, maxBoxDepth how deep
	// they nest: moov, trak, mdia, minf, stbl, stsd.
	maxBoxes    = 4096
	maxBoxDepth = 6
)

// mp4Reader reads the boxes of an MP4 file (ISO 14496-12) that describe its tracks.
type mp4Reader struct {
	file  io.ReadSeeker
	left  int // boxes that may still be read
	found Tracks

	// of the track that is being read
	handler, codec string
	width, height  int
	bytesPerPixel  float64
}

// readMP4 reads the length and the tracks of an MP4, QuickTime or 3GPP file.
// If the file breaks off or makes no sense, it returns what it found before that.
func readMP4(file io.ReadSeeker) (Tracks, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return Tracks{}, fmt.Errorf("probe: seek in mp4: %w", err)
	}
	reader := &mp4Reader{file: file, left: maxBoxes}
	if err := reader.boxes(0, size, 1); err != nil && !errors.Is(err, errBadBox) {
		return Tracks{}, err
	}
	return reader.found, nil
}

var errBadBox = errors.New("probe: malformed mp4 box")

// boxes reads the boxes from start up to end.
func (r *mp4Reader) boxes(start, end int64, depth int) error {
	for at := start; at+8 <= end; {
		if r.left == 0 {
			return errBadBox
		}
		r.left--
		kind, content, next, err := r.header(at, end)
		if err != nil {
			return err
		}
		if err := r.box(kind, content, next, depth); err != nil {
			return err
		}
		at = next
	}
	return nil
}

// header reads the header of the box at a position: its name, where its content begins,
// and where the next box begins.
func (r *mp4Reader) header(at, end int64) (kind string, content, next int64, err error) {
	var head [16]byte
	if err := r.read(at, head[:8]); err != nil {
		return "", 0, 0, err
	}
	content = at + 8
	size := int64(binary.BigEndian.Uint32(head[:]))
	switch size {
	case 0: // up to the end
		size = end - at
	case 1: // a longer size follows
		if err := r.read(at+8, head[8:]); err != nil {
			return "", 0, 0, err
		}
		long := binary.BigEndian.Uint64(head[8:])
		if long > uint64(end) { //nolint:gosec // an offset in a file is never negative
			return "", 0, 0, errBadBox
		}
		size = int64(long) //nolint:gosec // at most end
		content += 8
	}
	next = at + size
	if next < content || next > end {
		return "", 0, 0, errBadBox
	}
	return string(head[4:8]), content, next, nil
}

// box reads the fields of one box that are needed.
func (r *mp4Reader) box(kind string, content, end int64, depth int) error {
	switch kind {
	case "moov", "mdia", "minf", "stbl":
		if depth < maxBoxDepth {
			return r.boxes(content, end, depth+1)
		}
	case "trak":
		if depth < maxBoxDepth {
			r.handler, r.codec, r.width, r.height, r.bytesPerPixel = "", "", 0, 0, 0
			if err := r.boxes(content, end, depth+1); err != nil {
				return err
			}
			r.endTrack()
		}
	case "mvhd":
		return r.movieHeader(content, end)
	case "tkhd":
		return r.trackHeader(content, end)
	case "hdlr":
		body, err := r.body(content, end, 12)
		if err != nil {
			return err
		}
		if r.handler == "" { // QuickTime has one more, of the data
			r.handler = string(body[8:12])
		}
	case "stsd":
		return r.sampleDescription(content, end)
	}
	return nil
}

// codecs are the names of sample entries.
//
//nolint:gochecknoglobals // a table that nobody writes
var codecs = map[string]string{
	"avc1": "h264", "avc3": "h264", "hvc1": "hevc", "hev1": "hevc", "mp4v": "mpeg4", "s263": "h263", "vp08": "vp8", "vp09": "vp9", "av01": "av1",
	"mp4a": "aac", "samr": "amr_nb", "sawb": "amr_wb", "alac": "alac", "Opus": "opus", "fLaC": "flac", "ac-3": "ac3", "ec-3": "eac3", ".mp3": "mp3",
}

// sampleDescription reads the codec of a track, which its first sample entry names.
func (r *mp4Reader) sampleDescription(content, end int64) error {
	const counts = 8 // version, flags, and the number of entries
	if content+counts+8 > end {
		return errBadBox
	}
	kind, entry, next, err := r.header(content+counts, end)
	if err != nil {
		return err
	}
	r.codec = codecs[kind]
	if r.codec == "" {
		r.codec = "unknown"
	}
	if r.codec == "h264" {
		return r.avcProfile(entry, next)
	}
	return nil
}

// avcProfile looks in the sample entry of a video in H.264 for what decoders of phones can't do:
// more than eight bits, or more colour than 4:2:0.
func (r *mp4Reader) avcProfile(content, end int64) error {
	const (
		fields = 78 // of a visual sample entry, before its boxes
		high   = 100
	)
	for at := content + fields; at+8 <= end; {
		if r.left == 0 {
			return errBadBox
		}
		r.left--
		kind, inner, next, err := r.header(at, end)
		if err != nil {
			return err
		}
		if kind == "avcC" {
			body, err := r.body(inner, next, 2)
			if err == nil && body[1] > high {
				r.codec = fmt.Sprintf("h264 of profile %d", body[1])
				r.bytesPerPixel = 6 // at most: three colours, with more than eight bits
			}
			return err
		}
		at = next
	}
	return nil
}

func (r *mp4Reader) endTrack() {
	switch r.handler {
	case "soun":
		if !r.found.Audio {
			r.found.AudioCodec = r.codec
		}
		r.found.Audio = true
	case "vide":
		if !r.found.Video {
			r.found.Width, r.found.Height, r.found.VideoCodec, r.found.BytesPerPixel = r.width, r.height, r.codec, r.bytesPerPixel
		}
		r.found.Video = true
	}
}

// movieHeader reads the length, in version 0 or 1 of the box.
func (r *mp4Reader) movieHeader(content, end int64) error {
	body, err := r.body(content, end, 20)
	if err != nil {
		return err
	}
	scale, length := binary.BigEndian.Uint32(body[12:]), uint64(binary.BigEndian.Uint32(body[16:]))
	if length == math.MaxUint32 { // "not known"
		length = 0
	}
	if body[0] == 1 {
		if body, err = r.body(content, end, 32); err != nil {
			return err
		}
		scale, length = binary.BigEndian.Uint32(body[20:]), binary.BigEndian.Uint64(body[24:])
	}
	r.found.Duration = movieLength(scale, length)
	return nil
}

func movieLength(scale uint32, length uint64) time.Duration {
	if scale == 0 {
		return 0
	}
	return Duration(float64(length), float64(scale))
}

// trackHeader reads the size of a track's picture as it is shown: its matrix may turn
// the picture.
func (r *mp4Reader) trackHeader(content, end int64) error {
	matrix := int64(40)
	version, err := r.body(content, end, 1)
	if err != nil {
		return err
	}
	if version[0] == 1 {
		matrix += 12
	}
	body, err := r.body(content+matrix, end, 44)
	if err != nil {
		return err
	}
	number := func(i int) int { return int(binary.BigEndian.Uint32(body[i:])) }
	// Fixed-point numbers with 16 fractional bits.
	r.width, r.height = number(36)>>16, number(40)>>16
	const a, b, c, d = 0, 4, 12, 16
	if number(a) == 0 && number(d) == 0 && number(b) != 0 && number(c) != 0 {
		r.width, r.height = r.height, r.width
	}
	return nil
}

// body reads the first bytes of a box that ends at end.
func (r *mp4Reader) body(content, end, size int64) ([]byte, error) {
	if content+size > end {
		return nil, errBadBox
	}
	body := make([]byte, size)
	return body, r.read(content, body)
}

func (r *mp4Reader) read(at int64, into []byte) error {
	if _, err := r.file.Seek(at, io.SeekStart); err != nil {
		return fmt.Errorf("probe: seek in mp4: %w", err)
	}
	if _, err := io.ReadFull(r.file, into); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errBadBox
		}
		return fmt.Errorf("probe: read mp4: %w", err)
	}
	return nil
}
