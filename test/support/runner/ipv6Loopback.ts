import { networkInterfaces } from 'node:os'

/** Reason why ::1 cannot be tested here, or undefined. */
export const noIpv6Loopback = Object.values(networkInterfaces())
  .flat()
  .some((it) => it?.address === '::1')
  ? undefined
  : 'this machine has no ::1'
