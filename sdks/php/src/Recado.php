<?php

declare(strict_types=1);

namespace Recado;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;
use Recado\Errors\WebhookError;

/**
 * Calls one gateway with one API key:
 *
 *     $recado = new Recado();
 *     $recado->sendText(instanceId: $instanceId, to: '5511988887766', message: 'Oi!');
 *
 * Each operation of the API is a method, whose named arguments are the parameters of the path and of the query, and the
 * fields of the body. A refusal throws a RecadoError. A request that fails for now is made again, twice at most, if
 * that does nothing twice; sends carry an Idempotency-Key for it.
 */
final class Recado extends Operations
{
    private const USER_AGENT = 'recado-php';

    /** What of a file is held in memory; the rest waits on the disk. */
    private const IN_MEMORY = 1 << 20;

    private readonly string $baseUrl;
    private readonly string $apiKey;
    private readonly RequestFactoryInterface $requests;
    private readonly StreamFactoryInterface $streams;
    private readonly Transport $transport;

    /**
     * Without httpClient, Guzzle is taken, if it is installed.
     *
     * @param string|null $baseUrl Address of the gateway; if left out, the variable RECADO_URL, or else
     *     http://127.0.0.1:8080.
     * @param string|null $apiKey API key; if left out, the variable RECADO_API_KEY.
     * @param int $retries How often a request is repeated after the first time.
     * @param float $timeout How many seconds an answer may take, each time. A client that you pass has its own.
     * @param array<string, array<string, mixed>> $streamOptions Options of PHP's stream context for streamEvents, which
     *     no HTTP client is used for, such as ['ssl' => ['cafile' => …]].
     */
    public function __construct(
        ?string $baseUrl = null,
        ?string $apiKey = null,
        int $retries = 2,
        float $timeout = 300,
        ?ClientInterface $httpClient = null,
        ?RequestFactoryInterface $requestFactory = null,
        ?StreamFactoryInterface $streamFactory = null,
        private readonly array $streamOptions = [],
    ) {
        $this->baseUrl = rtrim($baseUrl ?? (getenv('RECADO_URL') ?: 'http://127.0.0.1:8080'), '/');
        $this->apiKey = $apiKey ?? (getenv('RECADO_API_KEY') ?: '');
        if ($this->apiKey === '') {
            throw new \InvalidArgumentException('an API key is missing: pass apiKey, or set RECADO_API_KEY');
        }
        if (!preg_match('~^https?://[^/\s]+(/\S*)?$~D', $this->baseUrl)) {
            throw new \InvalidArgumentException("the address of the gateway is no URL: $this->baseUrl");
        }
        $this->requests = $requestFactory ?? self::guzzle('GuzzleHttp\Psr7\HttpFactory');
        $this->streams = $streamFactory ?? self::guzzle('GuzzleHttp\Psr7\HttpFactory');
        $client = $httpClient ?? self::guzzle('GuzzleHttp\Client', ['timeout' => $timeout]);
        $this->transport = new Transport($client, $this->baseUrl, $retries);
    }

    /**
     * Stream events
     *
     * Yields the events of an instance in order and without a gap. It reconnects by itself and goes on where it was,
     * until an error that reconnecting would not fix. To go on after a restart of your program, keep the sequence of
     * the last event that you have processed, and pass it as $after.
     *
     * @param list<string>|null $types Types of events, such as message.received; all if left out.
     * @param int|null $after The sequence of the last event that was processed, 0 for none. Left out: begin with the
     *     next event.
     * @param float $silence For how many seconds nothing may arrive before the connection counts as dead.
     *
     * @return \Generator<int, Event>
     */
    public function streamEvents(
        string $instanceId,
        ?array $types = null,
        ?int $after = null,
        float $silence = 45,
    ): \Generator {
        if (!ini_get('allow_url_fopen')) {
            throw new \LogicException('streamEvents needs allow_url_fopen to be on in php.ini');
        }
        $path = '/api/instances/' . rawurlencode($instanceId) . '/events';
        $query = $types ? '?types=' . implode(',', array_map(rawurlencode(...), $types)) : '';
        $headers = ['X-Api-Key: ' . $this->apiKey, 'User-Agent: ' . self::USER_AGENT];
        $stream = new EventStream(
            $this->baseUrl . $path . $query,
            $path,
            $headers,
            $after,
            $silence,
            $this->streamOptions,
        );
        return $stream->events();
    }

    /**
     * Upload a file
     *
     * Sends a file to the gateway without holding it in memory. Afterwards every field for a file takes "upload:" and
     * the id.
     *
     * @param resource|StreamInterface $file What fopen returns, or a stream. It is read to its end.
     */
    public function upload($file, ?string $fileName = null): Types\Upload
    {
        $boundary = 'recado-' . self::uuid();
        $name = $fileName ?? (basename((string) self::uri($file)) ?: 'file');
        $quoted = preg_replace_callback('/[\r\n"]/', static fn (array $found) => rawurlencode($found[0]), $name);
        // Its length has to be known, and it may have to be sent again, so the form is made first.
        $form = fopen('php://temp/maxmemory:' . self::IN_MEMORY, 'w+');
        fwrite($form, "--$boundary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"$quoted\"\r\n"
            . "Content-Type: application/octet-stream\r\n\r\n");
        self::copy($file, $form);
        fwrite($form, "\r\n--$boundary--\r\n");
        $request = $this->request('POST', '/api/uploads')
            ->withHeader('Content-Type', "multipart/form-data; boundary=$boundary")
            ->withBody($this->streams->createStreamFromResource($form));
        return new Types\Upload($this->transport->send($request));
    }

    /**
     * Returns the event of a delivery that is signed with the secret, or with one of several, as Standard Webhooks
     * 1.0.0 describes.
     *
     * @param string|list<string> $secret
     * @param array<string, string|list<string>> $headers Headers of the request: getallheaders(), or getHeaders() of a
     *     PSR-7 request.
     * @param string $body The body of the request, byte for byte: file_get_contents('php://input').
     * @param int $tolerance How many seconds the time of a delivery may be from now.
     * @param \DateTimeInterface|null $now The moment that counts as now.
     *
     * @throws WebhookError for any other delivery
     */
    public static function verifyWebhook(
        string|array $secret,
        array $headers,
        string $body,
        int $tolerance = 300,
        ?\DateTimeInterface $now = null,
    ): Event {
        $header = [];
        foreach ($headers as $name => $values) {
            $header[strtolower((string) $name)] = implode(' ', (array) $values);
        }
        $timestamp = $header['webhook-timestamp'] ?? '';
        $seconds = ($now ?? new \DateTimeImmutable())->getTimestamp();
        if (!preg_match('/^-?\d+$/D', $timestamp) || abs($seconds - (int) $timestamp) > $tolerance) {
            throw new WebhookError('the delivery is too old, or the clocks differ');
        }
        $id = $header['webhook-id'] ?? '';
        $given = preg_split('/\s+/', $header['webhook-signature'] ?? '');
        foreach (array_filter((array) $secret, static fn (string $one): bool => $one !== '') as $one) {
            $signature = base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", self::signingKey($one), true));
            foreach ($given as $candidate) {
                if ($id !== '' && hash_equals("v1,$signature", $candidate)) {
                    return new Event(Json::decode($body));
                }
            }
        }
        throw new WebhookError('the delivery is not signed with the secret');
    }

    protected function call(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        array $clearable = [],
        array $headers = [],
    ): Json {
        $query = array_map(static fn (mixed $value): string => match (true) {
            is_bool($value) => $value ? 'true' : 'false',
            is_array($value) => implode(',', $value),
            default => (string) $value,
        }, array_filter($query, static fn (mixed $value): bool => $value !== null));
        $request = $this->request($method, $path . ($query ? '?' . http_build_query($query) : ''));
        if (array_key_exists('Idempotency-Key', $headers)) {
            $headers['Idempotency-Key'] ??= self::uuid();
        }
        foreach (array_filter($headers, static fn (?string $value): bool => $value !== null) as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        if ($body !== null) {
            $fields = array_filter($body, static fn (mixed $value): bool => $value !== null)
                + array_filter($clearable, static fn (mixed $value): bool => $value !== LeftOut::Value);
            $request = $request->withHeader('Content-Type', 'application/json')
                ->withBody($this->streams->createStream(Json::encode($fields)));
        }
        return $this->transport->send($request);
    }

    private function request(string $method, string $target): RequestInterface
    {
        return $this->requests->createRequest($method, $this->baseUrl . $target)
            ->withHeader('Accept', 'application/json')
            ->withHeader('User-Agent', self::USER_AGENT)
            ->withHeader('X-Api-Key', $this->apiKey);
    }

    private static function guzzle(string $class, mixed ...$arguments): object
    {
        if (!class_exists($class)) {
            throw new \LogicException(
                'an HTTP client is missing: composer require guzzlehttp/guzzle, '
                . 'or pass httpClient, requestFactory and streamFactory',
            );
        }
        return new $class(...$arguments);
    }

    /** @param resource|StreamInterface $file */
    private static function uri($file): mixed
    {
        return $file instanceof StreamInterface
            ? $file->getMetadata('uri')
            : stream_get_meta_data($file)['uri'] ?? null;
    }

    /**
     * @param resource|StreamInterface $file
     * @param resource $to
     */
    private static function copy($file, $to): void
    {
        if (is_resource($file)) {
            $copied = stream_copy_to_stream($file, $to) !== false;
        } else {
            for ($copied = true; $copied && !$file->eof();) {
                $piece = $file->read(1 << 16);
                $copied = fwrite($to, $piece) === strlen($piece);
            }
        }
        if (!$copied) {
            throw new \RuntimeException("the file can't be read, or there is no room for it on the disk");
        }
    }

    /** The decoded part of a secret after "whsec_"; any other secret is used as it is. */
    private static function signingKey(string $secret): string
    {
        $encoded = str_starts_with($secret, 'whsec_') ? substr($secret, strlen('whsec_')) : '';
        $key = (string) base64_decode($encoded, true);
        return $key !== '' && base64_encode($key) === $encoded ? $key : $secret;
    }

    private static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
