// The account itself, and whom it blocks.

package cloud

import (
	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// businessProfile is the account as Meta's API shows it.
type businessProfile struct {
	Product     string   `json:"messaging_product"`
	About       string   `json:"about"`
	Address     string   `json:"address,omitempty"`
	Description string   `json:"description,omitempty"`
	Email       string   `json:"email,omitempty"`
	Picture     string   `json:"profile_picture_url,omitempty"`
	Handle      string   `json:"profile_picture_handle,omitempty"` // of an upload, only in requests
	Websites    []string `json:"websites,omitempty"`
	Vertical    string   `json:"vertical,omitempty"`
}

func getProfile(c *call) (any, error) {
	found, err := c.api.GetProfile(c.http.Context(), c.instance.InstanceID)
	if err != nil {
		return nil, err
	}
	shown := businessProfile{Product: product, About: found.About}
	if found.Picture != nil {
		shown.Picture = *found.Picture
	}
	if found.Business != nil {
		shown.Address, shown.Email = found.Business.Address, found.Business.Email
	}
	return pageOf(shown), nil
}

// changeProfile changes what the account says about itself.
func changeProfile(c *call) (any, error) {
	var asked struct {
		businessProfile

		About *string `json:"about"` // absent: it stays
	}
	if err := c.decode(&asked); err != nil {
		return nil, err
	}
	if asked.Address+asked.Description+asked.Email+asked.Handle+asked.Vertical != "" || len(asked.Websites) > 0 {
		return nil, notHere(numberParameter, "Only about can be changed here: change the picture with the gateway's own API, and the rest on the phone.")
	}
	if asked.About == nil {
		return success{true}, nil
	}
	_, err := c.api.ChangeProfile(c.http.Context(), c.instance.InstanceID, client.ProfileChange{About: client.Set(*asked.About)})
	return success{true}, err
}

// maxBlocked bounds how many people a request blocks, each of whom is a question to the platform.
const maxBlocked = 50

// blocking is the body of a request to block people.
type blocking struct {
	People []struct {
		User loose `json:"user"`
	} `json:"block_users"`
}

// blocked is a person in answers.
type blocked struct {
	Product string         `json:"messaging_product,omitempty"`
	Input   string         `json:"input,omitempty"`
	Number  string         `json:"wa_id,omitempty"`
	UserID  string         `json:"user_id,omitempty"`
	Errors  []blockProblem `json:"errors,omitempty"`
}

type blockProblem struct {
	Message string    `json:"message"`
	Code    int       `json:"code"`
	Data    errorData `json:"error_data"`
}

// blockList is a list of blocked people.
type blockList struct {
	People []blocked `json:"block_users"`
}

func listBlocked(c *call) (any, error) {
	people := []blocked{}
	for each, err := range c.api.Blocks(c.http.Context(), c.instance.InstanceID) {
		if err != nil {
			return nil, err
		}
		shown := blocked{Product: product}
		if id := gateway.JID(each.ID); id.IsLID() {
			shown.UserID = userID(id)
		} else {
			shown.Number = id.User()
		}
		people = append(people, shown)
	}
	return pageOf(blockList{people}), nil
}

// blockAnswer says what became of each person.
type blockAnswer struct {
	Product string      `json:"messaging_product"`
	Users   blockResult `json:"block_users"`
}

type blockResult struct {
	Added   []blocked `json:"added_users,omitempty"`
	Removed []blocked `json:"removed_users,omitempty"`
	Failed  []blocked `json:"failed_users,omitempty"`
}

func block(c *call) (any, error) {
	done, failed, err := c.eachBlocked(func(phone string) error {
		return c.api.PutBlock(c.http.Context(), c.instance.InstanceID, phone)
	})
	return blockAnswer{product, blockResult{Added: done, Failed: failed}}, err
}

func unblock(c *call) (any, error) {
	done, failed, err := c.eachBlocked(func(phone string) error {
		return c.api.DeleteBlock(c.http.Context(), c.instance.InstanceID, phone)
	})
	return blockAnswer{product, blockResult{Removed: done, Failed: failed}}, err
}

// eachBlocked does something with everybody whom a request names. It fails if nobody could be
// changed.
func (c *call) eachBlocked(change func(phone string) error) (done, failed []blocked, err error) {
	var asked blocking
	if err := c.decode(&asked); err != nil {
		return nil, nil, err
	}
	if len(asked.People) == 0 {
		return nil, nil, missing("block_users")
	}
	if len(asked.People) > maxBlocked {
		return nil, nil, invalid("block_users has too many people for one request")
	}
	var first error
	for _, person := range asked.People {
		to := outgoing{To: person.User}
		phone, err := to.recipient()
		if err == nil {
			err = change(phone)
		}
		who := blocked{Input: string(person.User), Number: digits(string(person.User))}
		if err == nil {
			done = append(done, who)
			continue
		}
		if first == nil {
			first = err
		}
		refused := asGraph(err)
		who.Errors = []blockProblem{{refused.title, refused.code, errorData{Details: refused.details}}}
		failed = append(failed, who)
	}
	if len(done) == 0 {
		return nil, nil, first
	}
	return done, failed, nil
}
