<?php

declare(strict_types=1);

namespace Recado;

/** What an argument is that was not given, where null means something to the gateway. */
enum LeftOut
{
    case Value;
}
