<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 404: there is no such thing. */
final class NotFoundError extends RecadoError
{
}
