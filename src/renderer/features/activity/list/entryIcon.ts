import {
  Box,
  Camera,
  Circle,
  Coins,
  FileText,
  Fingerprint,
  Globe,
  KeyRound,
  LogIn,
  type LucideIcon,
  OctagonX,
  PlugZap,
  Power,
  Scale,
  Signature,
  SquareTerminal,
  Terminal,
  TicketCheck,
  UserRound,
  Wallet,
} from 'lucide-react'

const icons: Readonly<Record<string, LucideIcon>> = {
  intent: Signature,
  grant: TicketCheck,
  policy: Scale,
  stop: OctagonX,
  wallet: Wallet,
  keyring: Wallet,
  credits: Coins,
  identity: Fingerprint,
  registration: Fingerprint,
  automaton: Fingerprint,
  sandbox: Box,
  terminal: SquareTerminal,
  command: Terminal,
  file: FileText,
  snapshot: Camera,
  domain: Globe,
  key: KeyRound,
  auth: LogIn,
  account: UserRound,
  client: KeyRound,
  service: PlugZap,
  system: Power,
}

/** By the first word of its kind. */
export function entryIcon(kind: string): LucideIcon {
  const [first = ''] = kind.split('.')
  return Object.hasOwn(icons, first) ? (icons[first] ?? Circle) : Circle
}
