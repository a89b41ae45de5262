// How a file is described beside it, for those who copy files from one place to another.

package folder

import (
	"encoding/json"
	"fmt"

	"github.com/recado-project/recado/internal/media"
)

// Describe returns the content of the file that describes a file, which is beside it under its
// key with media.Described behind.
func Describe(meta media.BlobMeta) ([]byte, error) {
	return json.Marshal(description{MimeType: meta.MimeType, FileName: meta.FileName, Size: meta.Size})
}

// ReadDescription reads what Describe has written.
func ReadDescription(content []byte) (media.BlobMeta, error) {
	var about description
	if err := json.Unmarshal(content, &about); err != nil {
		return media.BlobMeta{}, fmt.Errorf("media: read the description of a file: %w", err)
	}
	return media.BlobMeta{MimeType: about.MimeType, FileName: about.FileName, Size: about.Size}, nil
}
