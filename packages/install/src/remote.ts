/** The door `@metier/install/remote` for other packages. */
export {
  describeServers,
  findRemote,
  nameSkills,
  type RemoteServer,
  type RemoteSkillStatus,
  type RemoteStatus,
  remoteServers,
  reportRefused,
} from "./remote/find-remote.ts";
export { type RemoteReadiness, readySkill, refuseLoad } from "./remote/ready-skill.ts";
export {
  addUnlisted,
  type ForgottenSkills,
  forgetOthers,
  forgetServer,
  forgetSkill,
  type RemoteParts,
  refreshServer,
} from "./remote/refresh-server.ts";
