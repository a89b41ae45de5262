<?php

declare(strict_types=1);

namespace Recado\Tests;

use GuzzleHttp\Psr7\Utils;
use PHPUnit\Framework\TestCase;
use Recado\Errors\ConnectionError;
use Recado\Errors\FieldError;
use Recado\Errors\NotFoundError;
use Recado\Errors\RecadoError;
use Recado\Errors\UnauthorizedError;
use Recado\Errors\UnavailableError;
use Recado\Errors\ValidationError;
use Recado\Errors\WebhookError;
use Recado\EventType;
use Recado\Recado;

/** The package, used as its users do, against a gateway with its sandbox. */
final class SdkTest extends TestCase
{
    private const CUSTOMER = '5511988887766';

    private static Recado $recado;
    private static string $instanceId;

    public static function setUpBeforeClass(): void
    {
        self::$recado = new Recado(baseUrl: Gateway::of('baseUrl'), apiKey: Gateway::of('apiKey'));
        self::$instanceId = Gateway::of('instanceId');
    }

    /** Makes an answer. */
    private static function answer(string $status, string $body, string ...$headers): string
    {
        $head = ["HTTP/1.1 $status", 'Content-Type: application/json', 'Connection: close', ...$headers];
        return implode("\r\n", $head) . "\r\n\r\n$body";
    }

    /** Returns the error that a call throws. */
    private static function errorOf(callable $call): \Throwable
    {
        try {
            $call();
        } catch (\Exception $error) {
            return $error;
        }
        self::fail('nothing was thrown');
    }

    public function testAddressAndKeyComeFromTheEnvironment(): void
    {
        self::assertStringContainsString('RECADO_API_KEY', self::errorOf(static fn () => new Recado())->getMessage());
        $nowhere = self::errorOf(static fn () => new Recado(baseUrl: 'nowhere', apiKey: 'rcd_1'));
        self::assertStringContainsString('no URL: nowhere', $nowhere->getMessage());
        putenv('RECADO_URL=' . Gateway::of('baseUrl') . '/');
        putenv('RECADO_API_KEY=' . Gateway::of('apiKey'));
        try {
            $recado = new Recado();
        } finally {
            putenv('RECADO_URL');
            putenv('RECADO_API_KEY');
        }
        self::assertSame(self::$instanceId, $recado->getInstance(instanceId: self::$instanceId)->instanceId);
    }

    public function testATextIsOnThePhoneAndAMessageWithTheSameKeyIsSentOnce(): void
    {
        $send = static fn () => self::$recado->sendText(
            instanceId: self::$instanceId,
            to: self::CUSTOMER,
            message: 'Oi, açaí!',
            idempotencyKey: 'order 17',
        );
        $sent = $send();
        $again = $send();
        self::assertSame($sent->messageId, $again->messageId);
        self::assertSame([false, true], [$sent->idempotencyReplayed, $again->idempotencyReplayed]);
        $message = self::$recado->getMessage(instanceId: self::$instanceId, messageId: $sent->messageId);
        self::assertSame('Oi, açaí!', $message->text);
        self::assertTrue($message->fromMe);
        self::assertEqualsWithDelta(time(), $message->timestamp->getTimestamp(), 60);
    }

    public function testATimeIsKeptInTheQueue(): void
    {
        $time = new \DateTimeImmutable('+1 hour');
        $sent = self::$recado->sendText(
            instanceId: self::$instanceId,
            to: self::CUSTOMER,
            message: 'later',
            sendAt: $time,
        );
        self::assertTrue($sent->accepted);
        $queued = self::$recado->getQueuedMessage(instanceId: self::$instanceId, messageId: $sent->id);
        self::assertSame($time->format('U.v'), $queued->sendAt->format('U.v'));
        self::$recado->cancelQueuedMessage(instanceId: self::$instanceId, messageId: $sent->id);
    }

    public function testWhatIsNotGivenStaysAndNullTakesAway(): void
    {
        $change = static fn (mixed ...$fields) => self::$recado->changeInstance(self::$instanceId, ...$fields);
        self::assertSame(2, $change(externalName: 'shop', pace: ['perMinute' => 2])->pace?->perMinute);
        self::assertSame('shop', $change(readMessages: false)->externalName);
        $changed = $change(externalName: null, pace: null);
        self::assertSame([null, null], [$changed->externalName, $changed->pace]);
        self::assertSame(self::$instanceId, $change(pace: [])->instanceId);
    }

    public function testARefusalIsAnErrorWithItsCodeAndItsFields(): void
    {
        $wrong = new Recado(baseUrl: Gateway::of('baseUrl'), apiKey: 'rcd_wrong');
        $error = self::errorOf(static fn () => $wrong->listInstances());
        self::assertInstanceOf(UnauthorizedError::class, $error);
        self::assertInstanceOf(RecadoError::class, $error);
        self::assertSame([401, 'UNAUTHORIZED'], [$error->statusCode, $error->errorCode]);
        self::assertNotEmpty($error->requestId);

        $error = self::errorOf(static fn () => self::$recado->sendText(self::$instanceId, to: '', message: 'x'));
        self::assertInstanceOf(ValidationError::class, $error);
        self::assertSame(['to'], array_map(static fn (FieldError $one) => $one->field, $error->details));

        $error = self::errorOf(static fn () => self::$recado->getMessage(self::$instanceId, messageId: '3EB0'));
        self::assertInstanceOf(NotFoundError::class, $error);
    }

    public function testWhatFailsForNowIsMadeAgainIfThatDoesNothingTwice(): void
    {
        $starting = self::answer('503 Service Unavailable', '{"error":"UNAVAILABLE"}', 'Retry-After: 0');
        $server = Started::server($starting, $starting, self::answer('200 OK', '{"messageId":"3EB0"}'), $starting);
        $url = $server->line();
        $patient = new Recado(baseUrl: $url, apiKey: 'rcd_1');
        $sent = $patient->sendText(self::$instanceId, to: self::CUSTOMER, message: 'x');
        self::assertSame('3EB0', $sent->messageId);
        $requests = [$server->request(), $server->request(), $server->request()];
        self::assertCount(1, array_unique(array_column($requests, 'body')));
        $keys = array_column(array_column($requests, 'headers'), 'idempotency-key');
        self::assertCount(1, array_unique($keys));
        self::assertCount(3, $keys);
        self::assertMatchesRegularExpression('/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/', $keys[0]);

        // Two instances may come of two requests, so this one is made once.
        $error = self::errorOf(static fn () => $patient->createInstance(name: 'shop'));
        self::assertInstanceOf(UnavailableError::class, $error);
        self::assertSame(0, $error->retryAfter);
        $hasty = new Recado(baseUrl: $url, apiKey: 'rcd_1', retries: 0);
        self::assertInstanceOf(UnavailableError::class, self::errorOf(static fn () => $hasty->getHealth()));
        $targets = [$server->request()['target'], $server->request()['target']];
        self::assertSame(['/api/partner/instances', '/healthz'], $targets);
    }

    public function testWhatWasRefusedOrCutBeforeItWasDoneIsMadeAgain(): void
    {
        $limited = self::answer('429 Too Many Requests', '{"error":"RATE_LIMITED"}', 'Retry-After: 1');
        $done = self::answer('200 OK', '{"instanceId":"01a1"}');
        $server = Started::server($limited, $done, '', $done);
        $patient = new Recado(baseUrl: $server->line(), apiKey: 'rcd_1');
        $began = microtime(true);
        $patient->createInstance(name: 'shop');
        self::assertGreaterThanOrEqual(1, microtime(true) - $began);
        self::assertSame('01a1', $patient->getInstance(self::$instanceId)->instanceId);
    }

    public function testAGatewayThatIsAwayIsAnErrorOfItsOwn(): void
    {
        $server = Started::server('...');
        $url = $server->line();
        $impatient = new Recado(baseUrl: $url, apiKey: 'rcd_1', retries: 0, timeout: 0.2);
        $error = self::errorOf(static fn () => $impatient->listInstances());
        self::assertInstanceOf(ConnectionError::class, $error);
        unset($server);
        $error = self::errorOf(static fn () => $impatient->listInstances());
        self::assertInstanceOf(ConnectionError::class, $error);
        self::assertStringStartsWith("the gateway at $url can't be reached: ", $error->getMessage());
        self::assertNotNull($error->getPrevious());
    }

    public function testAnAnswerThatIsNotTheGatewaysIsNoAnswer(): void
    {
        $server = Started::server(
            self::answer('200 OK', '<html>'),
            self::answer('200 OK', '{"instanceId":17}'),
            self::answer('302 Found', '', 'Location: http://127.0.0.1:1/'),
        );
        $recado = new Recado(baseUrl: $server->line(), apiKey: 'rcd_1', retries: 0);
        $says = static fn () => self::errorOf(static fn () => $recado->getInstance(self::$instanceId))->getMessage();
        self::assertSame('this is no object in JSON: <html>', $says());
        self::assertSame('instanceId is of another type: int', $says());
        self::assertSame('302: Found', $says());
    }

    public function testAListIsOneSequence(): void
    {
        $partner = new Recado(baseUrl: Gateway::of('baseUrl'), apiKey: Gateway::of('partnerKey'));
        $names = ['first', 'second', 'third'];
        foreach ($names as $name) {
            $partner->createInstance(name: $name);
        }
        $listed = [];
        foreach (self::$recado->instances(limit: 1) as $instance) {
            $listed[] = $instance->name;
        }
        self::assertSame(['demo', ...$names], $listed);
        self::assertSame(4, self::$recado->listInstances(page: 2, limit: 1)->totalCount);
    }

    public function testEventsGoOnWhereACutStreamWasWithoutAGap(): void
    {
        $cable = Started::cable();
        $far = new Recado(baseUrl: $cable->line(), apiKey: Gateway::of('apiKey'));
        $write = static fn (string $text) => Gateway::asPhone(
            self::CUSTOMER . '/messages',
            ['to' => Gateway::of('instanceNumber'), 'type' => 'text', 'text' => $text],
        );
        [$texts, $seen] = [['um', 'dois', 'três'], []];
        $write($texts[0]);
        foreach ($far->streamEvents(self::$instanceId, types: [EventType::MESSAGE_RECEIVED], after: 0) as $event) {
            self::assertSame(EventType::MESSAGE_RECEIVED, $event->type);
            if (!in_array($event->data->text, $texts, true)) {
                continue; // another test's
            }
            $seen[] = $event->data->text;
            if (count($seen) === count($texts)) {
                break;
            }
            $cable->tell('cut');
            $write($texts[count($seen)]);
        }
        self::assertSame($texts, $seen);
    }

    public function testASilentConnectionIsGivenUpAndTheNextBeginsAfterWhatItHasSaid(): void
    {
        $head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        $server = Started::server(
            "{$head}retry: 1\nid: 7\n\n...", // there were events of other types
            "{$head}id: 8\r\n: alive\r\ndata: {\"data\":\r\ndata: {\"text\":\"açaí: um\"}}\r\n\r\n...",
        );
        $recado = new Recado(baseUrl: $server->line(), apiKey: 'rcd_1');
        $events = $recado->streamEvents(self::$instanceId, types: ['message.sent:api', 'presence'], silence: 0.2);
        self::assertSame('açaí: um', $events->current()->data->text);
        [$first, $second] = [$server->request(), $server->request()];
        $path = '/api/instances/' . self::$instanceId . '/events?types=message.sent%3Aapi,presence';
        self::assertSame([$path, 'rcd_1'], [$first['target'], $first['headers']['x-api-key']]);
        self::assertSame([null, '7'], [
            $first['headers']['last-event-id'] ?? null,
            $second['headers']['last-event-id'],
        ]);
    }

    public function testAStreamEndsWithAnErrorThatStays(): void
    {
        $strange = self::$recado->streamEvents('01a1fa84-de19-7bc8-9e51-c104e24cd85b');
        $error = self::errorOf(static fn () => $strange->current());
        self::assertInstanceOf(NotFoundError::class, $error);
        self::assertSame('INSTANCE_NOT_FOUND', $error->errorCode);
        self::assertNotEmpty($error->requestId);
    }

    public function testADeliveryIsVerifiedAndNothingThatWasChanged(): void
    {
        $server = Started::server(self::answer('200 OK', ''));
        $secret = 'whsec_' . base64_encode(str_repeat("\7", 24));
        $webhook = self::$recado->createWebhook(self::$instanceId, url: $server->line(), secret: $secret);
        self::$recado->testWebhook(self::$instanceId, $webhook->id);
        ['headers' => $headers, 'body' => $body] = $server->request();
        self::$recado->deleteWebhook(self::$instanceId, $webhook->id);

        $event = Recado::verifyWebhook(['another', $secret], $headers, $body);
        self::assertSame(EventType::WEBHOOK_TEST, $event->type);
        $listed = array_map(static fn (string $value) => [$value], array_change_key_case($headers, CASE_UPPER));
        self::assertEquals($event, Recado::verifyWebhook($secret, $listed, $body));
        foreach (
            [
                'another secret' => ['another', $headers, $body],
                'no secret' => ['', $headers, $body],
                'another body' => [$secret, $headers, "$body "],
                'no signature' => [$secret, ['webhook-signature' => ''] + $headers, $body],
                'no id' => [$secret, ['webhook-id' => ''] + $headers, $body],
                'no headers' => [$secret, [], $body],
                'too late' => [$secret, $headers, $body, 300, new \DateTimeImmutable('+310 seconds')],
                'too early' => [$secret, $headers, $body, 300, new \DateTimeImmutable('-310 seconds')],
            ] as $what => $delivery
        ) {
            $error = self::errorOf(static fn () => Recado::verifyWebhook(...$delivery));
            self::assertInstanceOf(WebhookError::class, $error, $what);
        }
    }

    public function testASecretThatIsNoBase64IsUsedAsItIsAndANewTypeIsNoError(): void
    {
        $body = '{"type":"moon.landed","data":{"crew":[{"name":"açaí"}]},"mood":"new"}';
        foreach (['açaí', 'whsec_not base64'] as $secret) {
            $time = (string) time();
            $signature = base64_encode(hash_hmac('sha256', "id.$time.$body", $secret, true));
            $headers = [
                'Webhook-Id' => 'id',
                'Webhook-Timestamp' => $time,
                'Webhook-Signature' => "v1,x v1,$signature",
            ];
            $event = Recado::verifyWebhook($secret, $headers, $body);
            self::assertSame(['moon.landed', 'açaí'], [$event->type, $event->data->crew[0]['name']]);
        }
    }

    public function testAFileIsUploadedAndSent(): void
    {
        $photo = (string) file_get_contents(Gateway::of('baseUrl') . '/sandbox/files/photo.png');
        foreach ([Utils::streamFor($photo), fopen('data:image/png;base64,' . base64_encode($photo), 'r')] as $file) {
            $upload = self::$recado->upload($file, fileName: 'my "photo".png');
            self::assertSame([strlen($photo), 'image/png'], [$upload->size, $upload->mimeType]);
            $sent = self::$recado->sendImage(self::$instanceId, to: self::CUSTOMER, image: "upload:$upload->id");
            self::assertNotEmpty($sent->messageId);
        }
        $error = self::errorOf(static fn () => self::$recado->upload(Utils::streamFor('')));
        self::assertInstanceOf(ValidationError::class, $error);
    }

    /** @group curl */
    public function testAFileIsNotHeldInMemory(): void
    {
        $size = 32 << 20;
        $file = tmpfile();
        for ($written = 0; $written < $size; $written += 1 << 20) {
            fwrite($file, random_bytes(1 << 20));
        }
        rewind($file);
        $before = memory_get_usage();
        memory_reset_peak_usage();
        self::assertSame($size, self::$recado->upload($file)->size);
        self::assertLessThan($size / 4, memory_get_peak_usage() - $before);
    }
}
