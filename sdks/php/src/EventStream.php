<?php

declare(strict_types=1);

namespace Recado;

use Recado\Errors\RecadoError;

/**
 * Events of an instance, as they happen.
 *
 * PSR-18 does not say when an answer is there, and most clients wait for its end, which a stream does not have. So
 * this reads with PHP's own stream wrapper for HTTP.
 *
 * @internal
 */
final class EventStream
{
    private const FIRST_WAIT = 0.5;
    private const LONGEST_WAIT = 30;

    /** The most bytes of one event. */
    private const LONGEST_EVENT = 64 << 20;

    /** The shortest wait before the next connection. */
    private float $retry = self::FIRST_WAIT;

    /** Whether the connection has brought an event. */
    private bool $alive = false;

    /**
     * @param list<string>                       $headers of the request, as lines
     * @param int|null                           $after   the last event that was processed
     * @param array<string, array<string, mixed>> $options of the stream's context
     */
    public function __construct(
        private string $url,
        private string $path,
        private array $headers,
        private ?int $after,
        private float $silence,
        private array $options,
    ) {
    }

    /**
     * Yields events without a gap, and reconnects where it was, until an error that stays.
     *
     * @return \Generator<int, Event>
     */
    public function events(): \Generator
    {
        for ($wait = self::FIRST_WAIT;; $wait = min(2 * $wait, self::LONGEST_WAIT)) {
            $pause = 0;
            try {
                foreach ($this->connection() as $event) {
                    yield $event;
                }
            } catch (RecadoError $error) {
                if (!RecadoError::passes($error->statusCode, $error->retryAfter)) {
                    throw $error;
                }
                $pause = $error->retryAfter ?? 0;
            }
            if ($this->alive) {
                $wait = max(self::FIRST_WAIT, $this->retry);
            }
            $this->alive = false;
            Transport::sleep(max($pause, Transport::jittered($wait)));
        }
    }

    /**
     * Yields the events of one connection, to its end.
     *
     * @return \Generator<int, Event>
     */
    private function connection(): \Generator
    {
        $stream = $this->open();
        if ($stream === false) {
            return;
        }
        try {
            [$status, $reason, $headers] = self::head($stream);
            if ($status !== 200) {
                $body = (string) stream_get_contents($stream, 1 << 20);
                throw RecadoError::of($status, $reason, $headers, $body, $this->path);
            }
            foreach (self::messages($stream) as ['id' => $id, 'data' => $data, 'retry' => $retry]) {
                if ($retry !== null) {
                    $this->retry = $retry / 1000;
                }
                if ($data !== '') {
                    $this->alive = true;
                    yield new Event(Json::decode($data));
                }
                // An event counts as processed when the caller asks for the next one. A message without one says that
                // there are only events of other types up to its id.
                $this->after = $id ?? $this->after;
            }
        } finally {
            fclose($stream);
        }
    }

    /** @return resource|false */
    private function open()
    {
        $position = $this->after === null ? [] : ['Last-Event-ID: ' . $this->after];
        $context = stream_context_create(array_replace_recursive($this->options, ['http' => [
            'header' => ['Accept: text/event-stream', ...$position, ...$this->headers],
            'timeout' => $this->silence,
            'ignore_errors' => true, // the body of a refusal is read
            'follow_location' => 0,
            // In HTTP 1.1 an answer may come in chunks, of which PHP keeps back events until there are 8 kB.
            'protocol_version' => 1.0,
        ]]));
        return @fopen($this->url, 'r', false, $context); // what can't be reached now is tried again
    }

    /**
     * Reads status, reason and headers of the answer that has begun.
     *
     * @param resource $stream
     *
     * @return array{int, string, array<string, string>}
     */
    private static function head($stream): array
    {
        [$status, $reason, $headers] = [0, '', []];
        foreach (stream_get_meta_data($stream)['wrapper_data'] ?? [] as $line) {
            if (preg_match('~^HTTP/\S+ (\d{3}) ?(.*)$~', $line, $found)) {
                [$status, $reason, $headers] = [(int) $found[1], $found[2], []];
                continue;
            }
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $headers[strtolower($name)] = trim($value);
        }
        return [$status, $reason, $headers];
    }

    /**
     * Yields the messages of a stream, until it ends or is silent.
     *
     * @param resource $stream
     *
     * @return \Generator<int, array{id: int|null, data: string, retry: int|null}>
     */
    private static function messages($stream): \Generator
    {
        $none = ['id' => null, 'data' => '', 'retry' => null];
        $message = $none;
        while (($line = self::line($stream)) !== null) {
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $value = str_starts_with($value, ' ') ? substr($value, 1) : $value;
            if ($line === '') {
                yield $message;
                $message = $none;
            } elseif ($name === 'data') {
                $message['data'] .= $value;
                self::check(strlen($message['data']));
            } elseif (in_array($name, ['id', 'retry'], true) && ctype_digit($value)) {
                $message[$name] = (int) $value;
            }
        }
    }

    /**
     * Reads a line, without its end; null if there is no further one.
     *
     * @param resource $stream
     */
    private static function line($stream): ?string
    {
        $line = '';
        while (!str_ends_with($line, "\n")) {
            $piece = fgets($stream);
            if ($piece === false || stream_get_meta_data($stream)['timed_out']) {
                return null;
            }
            $line .= $piece;
            self::check(strlen($line));
        }
        return rtrim($line, "\r\n");
    }

    private static function check(int $length): void
    {
        if ($length > self::LONGEST_EVENT) {
            throw new \LengthException('an event is longer than ' . self::LONGEST_EVENT . ' bytes');
        }
    }
}
