/** What other packages may use of `@metier/install/remote`. */
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
