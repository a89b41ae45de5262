package phone

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// savedFile names a file that a phone has fetched and decrypted. The zero value is
// no file.
type savedFile struct {
	sha256 string
	size   int
}

// fetch fetches the file of a message from the media host. If that is not possible,
// the phone shows the message without the file.
func (p *phone) fetch(ctx context.Context, message *waE2E.Message) (saved savedFile, plain []byte, err error) {
	part, kind := content.MediaOf(message)
	if part == nil {
		return savedFile{}, nil, nil
	}
	plain, err = p.s.config.Media.Get(kind, content.PointerOf(part))
	if err != nil {
		p.s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a phone could not fetch the file of a message", slog.Any("error", err))
		return savedFile{}, nil, nil
	}
	if err := p.s.config.Files.Put(hex.EncodeToString(part.GetFileSHA256()), plain); err != nil {
		return savedFile{}, nil, err
	}
	return savedFile{sha256: hex.EncodeToString(part.GetFileSHA256()), size: len(plain)}, plain, nil
}

// judge finds what is wrong with a message, and with the accounts that its cards name.
func (p *phone) judge(ctx context.Context, message *waE2E.Message, file []byte) ([]string, error) {
	problems := content.Problems(message, file)
	for _, number := range content.CardAccounts(message) {
		of, err := p.s.config.Accounts.Find(ctx, number)
		if err != nil {
			return nil, err
		}
		if of == nil || !of.IsRegistered() {
			problems = append(problems, fmt.Sprintf("the card says that %s is an account, and it is none", number))
		}
	}
	return problems, nil
}

// File is the file of a message, as the phone has it.
type File struct {
	Content  io.ReadSeekCloser
	MimeType string // what the sender says it is
	Name     string // as the sender calls it, "" if the message has no place for a name
}

// File returns the file of the message in a place on the phone of a number. The caller
// closes its content.
func (s *Service) File(ctx context.Context, number string, place int64) (File, error) {
	_, kept, err := s.inPlace(ctx, number, place)
	if err != nil {
		return File{}, err
	}
	shown, err := kept.show()
	if err != nil {
		return File{}, err
	}
	if shown.MediaSHA256 != "" && !kept.forgotten {
		file, err := s.config.Files.Open(shown.MediaSHA256)
		if err != nil {
			return File{}, err
		}
		if file != nil {
			return File{Content: file, MimeType: shown.MimeType, Name: shown.FileName}, nil
		}
	}
	return File{}, refusal.NotFoundf("the phone has no file of this message")
}

// ForgetMedia deletes the file of a message from the media host, as the platform
// does after a while. If everywhere is true, all phones lose the file too.
func (s *Service) ForgetMedia(ctx context.Context, number, messageID string, everywhere bool) error {
	_, kept, err := s.shownMessage(ctx, number, messageID)
	if err != nil {
		return err
	}
	message, err := kept.message()
	if err != nil {
		return err
	}
	part, _ := content.MediaOf(message)
	if part == nil {
		return refusal.Invalidf("", "the message has no file")
	}
	if err := s.config.Media.Drop(content.PointerOf(part).DirectPath); err != nil {
		return fmt.Errorf("phone: %w", err)
	}
	if !everywhere {
		return nil
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE messages SET media_forgotten = 1 WHERE id = $1", messageID)
	u.Then(s.config.Accounts.Bell.RingAll)
	return u.Commit(ctx)
}
