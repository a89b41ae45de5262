<?php

declare(strict_types=1);

namespace Recado;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;
use Recado\Errors\ConnectionError;
use Recado\Errors\RecadoError;

/**
 * Makes requests, and makes again those that fail for now.
 *
 * @internal
 */
final class Transport
{
    private const FIRST_WAIT = 0.5;
    private const LONGEST_WAIT = 60;

    /** The longest answers are pages of a hundred instances. */
    private const LONGEST_ANSWER = 8 << 20;

    /** @param int $retries How often a request is repeated after the first time. */
    public function __construct(
        private ClientInterface $client,
        private string $baseUrl,
        private int $retries,
    ) {
    }

    /** Returns the answer to a request. A refusal is a RecadoError. */
    public function send(RequestInterface $request): Json
    {
        $response = $this->response($request);
        $body = $response->getBody();
        $text = '';
        try {
            while (!$body->eof()) {
                $text .= $body->read(1 << 16);
                if (strlen($text) > self::LONGEST_ANSWER) {
                    throw new \LengthException('the answer is longer than ' . self::LONGEST_ANSWER . ' bytes');
                }
            }
        } catch (\RuntimeException $cut) {
            throw new ConnectionError($this->baseUrl, $cut);
        } finally {
            $body->close();
        }
        $status = $response->getStatusCode();
        if ($status >= 300) {
            $headers = array_change_key_case(array_map(
                static fn (array $values): string => implode(', ', $values),
                $response->getHeaders(),
            ));
            throw RecadoError::of(
                $status,
                $response->getReasonPhrase(),
                $headers,
                $text,
                $request->getUri()->getPath(),
            );
        }
        return $text === '' ? new Json([], $response) : Json::decode($text, $response);
    }

    private function response(RequestInterface $request): ResponseInterface
    {
        for ($tried = 0;; $tried++) {
            $last = $tried >= $this->retries;
            $pause = self::jittered(self::FIRST_WAIT * 2 ** $tried);
            try {
                if ($request->getBody()->isSeekable()) {
                    $request->getBody()->rewind();
                }
                $response = $this->client->sendRequest($request);
                if ($last || !self::passes($request, $response)) {
                    return $response;
                }
                $pause = max($pause, RecadoError::seconds($response->getHeaderLine('Retry-After')) ?? 0);
                if ($pause > self::LONGEST_WAIT) {
                    return $response;
                }
                $response->getBody()->close();
            } catch (ClientExceptionInterface $error) {
                if ($last || !self::repeatable($request)) {
                    throw new ConnectionError($this->baseUrl, $error);
                }
            }
            self::sleep($pause);
        }
    }

    /** Whether the same request may get another answer later, and may be made again. */
    private static function passes(RequestInterface $request, ResponseInterface $response): bool
    {
        $status = $response->getStatusCode();
        $refusedUndone = $status === 429; // whatever it is, nothing was done
        return $refusedUndone || (self::repeatable($request)
            && RecadoError::passes($status, RecadoError::seconds($response->getHeaderLine('Retry-After'))));
    }

    /** Whether a request that is made twice has the effect of one. */
    private static function repeatable(RequestInterface $request): bool
    {
        return in_array($request->getMethod(), ['GET', 'HEAD', 'PUT', 'DELETE'], true)
            || $request->hasHeader('Idempotency-Key');
    }

    /** A random wait between half of the given one and all of it, so that clients do not come at the same moment. */
    public static function jittered(float $wait): float
    {
        return $wait * (0.5 + mt_rand() / mt_getrandmax() / 2);
    }

    /** Waits for some seconds. */
    public static function sleep(float $seconds): void
    {
        usleep((int) ($seconds * 1_000_000));
    }
}
