import { z } from 'zod'

/** Words of the asker's own, without characters that nobody sees or that turn text around. */
export const Words = z
  .string()
  .trim()
  .max(280)
  .regex(/^(?:[^\p{Cc}\p{Cf}\p{Cs}]|[\n\t])*$/u, 'must not hold control characters')
